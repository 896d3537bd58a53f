"""What the app of infra/modules/app.bicep is given, read for whoever tests it."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
APP = (ROOT / "infra" / "modules" / "app.bicep").read_text("utf-8")
MADE_UP = {
    "openaiEndpoint": "https://name.openai.azure.com/openai/v1/",
    "searchEndpoint": "https://name.search.windows.net",
    "safetyEndpoint": "https://name.cognitiveservices.azure.com",
    "languageEndpoint": "https://other.cognitiveservices.azure.com",
    "embeddingDeployment": "text-embedding-3-small",
    "chatDeployment": "chat",
    "clientId": "3f2504e0-4f89-11d3-9a0c-0305e82c3301",
    "botAppId": "3f2504e0-4f89-11d3-9a0c-0305e82c3301",
    "subscription().tenantId": "11111111-2222-3333-4444-555555555555",
    "company": "Contoso",
    "checkpoints": "https://name.blob.core.windows.net/checkpoints?sv=2025-06-01&sp=rcl&sig=x",
    "bot-app-password": "secret",
    "api-keys": "first,second",
    "sign-in-secret": "another secret",
    "environment().authentication.loginEndpoint": "https://login.microsoftonline.com/",
    "host": "attest.example.com",
    "databaseUrl": "postgresql://attest-x@attest-db-x.postgres.database.azure.com:5432/attest?sslmode=verify-full&sslrootcert=/etc/ssl/certs/ca-certificates.crt",
}


def _value(written: str, made_up: dict[str, str]) -> str:
    if written.startswith("'"):
        return re.sub(r"\$\{([^}]+)\}", lambda m: made_up[m[1]], written.strip("'"))
    return made_up[written]


def settings(variables: tuple[str, ...], **given: str) -> dict[str, str]:
    """The environment of the container, of these lists of it, with made-up values for what is known at deployment alone."""
    made_up = {**MADE_UP, **given}
    found: dict[str, str] = {}
    for variable in variables:
        block = APP[APP.index(f"var {variable} = ") :].split("\n]\n", 1)[0]
        for name, kind, value in re.findall(r"name: '(\w+)'\s+(value|secretRef): (\S+)", block):
            found[name] = made_up[value.strip("'")] if kind == "secretRef" else _value(value, made_up)
    return found
