"""Azure's national clouds: sign-in hosts, token scopes, and which cloud an address belongs to."""

from __future__ import annotations

from typing import Literal, NamedTuple
from urllib.parse import urlsplit

CloudName = Literal["public", "usgov", "china"]


class Cloud(NamedTuple):
    """Addresses of one cloud. `authority`: the host that signs in. The others: the resources that tokens for these services are issued for."""

    authority: str
    cognitive: str
    search: str
    graph: str
    database: str


CLOUDS: dict[CloudName, Cloud] = {
    "public": Cloud(
        "login.microsoftonline.com",
        "https://cognitiveservices.azure.com",
        "https://search.azure.com",
        "https://graph.microsoft.com",
        "https://ossrdbms-aad.database.windows.net",
    ),
    "usgov": Cloud(
        "login.microsoftonline.us",
        "https://cognitiveservices.azure.us",
        "https://search.azure.us",
        "https://graph.microsoft.us",
        "https://ossrdbms-aad.database.usgovcloudapi.net",
    ),
    "china": Cloud(
        "login.chinacloudapi.cn",
        "https://cognitiveservices.azure.cn",
        "https://search.azure.cn",
        "https://microsoftgraph.chinacloudapi.cn",
        "https://ossrdbms-aad.database.chinacloudapi.cn",
    ),
}
OPENAI_BASE_URL = "https://api.openai.com/v1"
"""Where OpenAI's own API answers: the base URL where none is set."""
SUFFIX = "/.default"
COGNITIVE = CLOUDS["public"].cognitive + SUFFIX
"""Azure OpenAI, AI Language and Content Safety."""
SEARCH = CLOUDS["public"].search + SUFFIX
GRAPH = CLOUDS["public"].graph + SUFFIX
DATABASE = CLOUDS["public"].database + SUFFIX
"""Azure Database for PostgreSQL."""
_HOSTS: dict[str, CloudName] = {
    ".azure.com": "public",
    ".windows.net": "public",
    ".azure.us": "usgov",
    ".azure.cn": "china",
}
_GRAPHS = frozenset({"dod-graph.microsoft.us", *(cloud.graph.removeprefix("https://") for cloud in CLOUDS.values())})
_AZURE_AI = tuple(
    f".{service}.azure.{cloud}"
    for service in ("openai", "cognitiveservices", "services.ai")
    for cloud in ("com", "us", "cn")
)


def own_scope(scope: str, cloud: CloudName) -> str:
    """`scope` translated to `cloud`, if it is one of a known service in the public cloud; any other scope as it is."""
    resource, public = scope.removesuffix(SUFFIX), CLOUDS["public"]
    return CLOUDS[cloud][public.index(resource)] + SUFFIX if resource in public else scope


def cloud_of(url: str) -> CloudName | None:
    """The cloud that `url` leads to; None for what is not Azure's, a gateway for one."""
    host = urlsplit(url).hostname or ""
    return next((cloud for suffix, cloud in _HOSTS.items() if host.endswith(suffix)), None)


def is_graph(url: str) -> bool:
    """True if `url` leads to Microsoft Graph, over https: nothing else gets a token that reads a company's directory."""
    parts = urlsplit(url)
    return parts.scheme == "https" and parts.netloc in _GRAPHS


def graph_cloud(url: str) -> CloudName:
    """The cloud of a Microsoft Graph address; that of the Department of Defense is signed in to as usgov."""
    host = urlsplit(url).hostname or ""
    return next((name for name, cloud in CLOUDS.items() if cloud.graph.endswith(f"//{host}")), "usgov")


def is_azure_ai(url: str) -> bool:
    """True if `url` leads to a resource of Azure AI in any cloud, which takes tokens of a machine's identity."""
    return (urlsplit(url).hostname or "").endswith(_AZURE_AI)


def is_openai(url: str | None) -> bool:
    """True if `url` leads to OpenAI itself, as None does, or to a resource of Azure AI; not to another server with the same interface."""
    host = urlsplit(url).hostname or "" if url else "api.openai.com"
    return f".{host}".endswith(".api.openai.com") or host.endswith(_AZURE_AI)
