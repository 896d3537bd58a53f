"""compose.yaml and the nginx before it: their form is read, and the configuration of nginx is used by a real one in front of two workers."""

from __future__ import annotations

import ipaddress
import json
import re
import ssl
import subprocess
import urllib.error
import urllib.request
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
import yaml
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from bot.settings.load import load_settings
from tests.e2e.nginx import free_port, nginx_path, running
from tests.e2e.processes import address_of, environment_of, started

ROOT = Path(__file__).parents[2]
COMPOSE: dict[str, Any] = yaml.safe_load((ROOT / "compose.yaml").read_text("utf-8"))
SERVICES: dict[str, dict[str, Any]] = COMPOSE["services"]
ATTEST, NGINX = SERVICES["attest"], SERVICES["nginx"]
SITE = (ROOT / "infra" / "nginx" / "attest.conf").read_text("utf-8")


@pytest.mark.parametrize("name", SERVICES)
def test_a_container_has_a_read_only_root_and_no_rights(name: str) -> None:
    service = SERVICES[name]
    assert service["read_only"] is True
    assert service["cap_drop"] == ["ALL"]
    assert service["security_opt"] == ["no-new-privileges:true"]
    assert "privileged" not in service
    assert "user" not in service  # the image's own, which is not root
    assert any(mount.startswith("/tmp:") for mount in service["tmpfs"])
    assert service["restart"] == "unless-stopped"


def test_only_nginx_is_reached_from_outside() -> None:
    assert "ports" not in ATTEST
    assert NGINX["ports"] == ["443:8443"]
    assert "listen 8443 ssl;" in SITE


def test_volumes_are_declared_and_the_images_own() -> None:
    image = (ROOT / "infra" / "Dockerfile").read_text("utf-8")
    named = dict(mount.split(":")[:2] for mount in ATTEST["volumes"] if not mount.startswith("."))
    assert set(named) == set(COMPOSE["volumes"])
    [declared] = re.findall(r"^VOLUME (\[.*\])$", image, re.MULTILINE)
    assert set(named.values()) == set(json.loads(declared))
    for mount in [*ATTEST["volumes"], *NGINX["volumes"]]:
        if mount.startswith("."):
            assert mount.endswith(":ro")


def test_files_that_are_named_exist() -> None:
    assert (ROOT / ATTEST["build"]["dockerfile"]).is_file()
    assert (ROOT / NGINX["volumes"][0].split(":")[0]).is_file()
    assert (ROOT / "env" / "compose.env.example").is_file()


def test_the_proxies_that_count_are_those_of_the_network() -> None:
    [network] = COMPOSE["networks"]["front"]["ipam"]["config"]
    assert ATTEST["environment"]["ATTEST_PROXIES"] == network["subnet"]
    assert ipaddress.ip_network(network["subnet"]).is_private


def test_the_program_takes_the_settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / ".env").write_text((ROOT / "env" / "compose.env.example").read_text("utf-8"), "utf-8")
    for name, value in ATTEST["environment"].items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("ATTEST_HOST", "0.0.0.0")
    assert not load_settings().local_mode


def test_turns_in_hand_are_waited_for() -> None:
    assert int(ATTEST["stop_grace_period"].removesuffix("s")) > load_settings().bounds.turn_deadline_s


def test_two_workers_unless_told_otherwise() -> None:
    assert ATTEST["command"] == ["serve", "--workers", "${WORKERS:-2}"]


# ── a real nginx with our configuration ─────────────────────────────────────────────────────────────────────────────────

KEY = "key-of-the-api"


def certificate(folder: Path) -> ssl.SSLContext:
    """Writes `fullchain.pem` and `privkey.pem`; the context of a client that trusts them alone."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "localhost")])
    now = datetime.now(UTC)
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(hours=1))
        .not_valid_after(now + timedelta(hours=1))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName("localhost")]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    (folder / "fullchain.pem").write_bytes(made.public_bytes(serialization.Encoding.PEM))
    secret = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    (folder / "privkey.pem").write_bytes(secret)
    return ssl.create_default_context(cafile=str(folder / "fullchain.pem"))


class Front:
    """The address of nginx over TLS, and a client that trusts its certificate."""

    def __init__(self, port: int, context: ssl.SSLContext) -> None:
        self._base, self._context = f"https://localhost:{port}", context

    def ask(
        self, path: str, body: dict[str, Any] | None = None, headers: dict[str, str] | None = None
    ) -> tuple[int, str, str]:
        """Status, content type and text of an answer."""
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(
            self._base + path, data, {"Content-Type": "application/json", **(headers or {})}
        )
        opener = urllib.request.build_opener(
            urllib.request.ProxyHandler({}), urllib.request.HTTPSHandler(context=self._context)
        )
        try:
            with opener.open(request, timeout=60) as reply:
                return reply.status, reply.headers["Content-Type"], reply.read().decode()
        except urllib.error.HTTPError as error:
            return error.code, error.headers["Content-Type"], error.read().decode()


@pytest.fixture(scope="module")
def front(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Front]:
    nginx_path()  # skips without one, before anything is started
    folder = tmp_path_factory.mktemp("compose")
    (folder / "documents").mkdir()
    (folder / "documents" / "refunds.md").write_text("# Refunds\n\nA refund takes five working days.\n", "utf-8")
    context = certificate(folder)
    more = {name: value for name, value in ATTEST["environment"].items() if name != "ATTEST_PROXIES"}
    env = environment_of(
        folder / "home",
        **more,
        ATTEST_PROXIES="127.0.0.1",
        ATTEST_API_KEYS=KEY,
        ATTEST_PUBLIC_URL="https://localhost",
        ATTEST_PORT=str(inner := free_port()),
    )
    with started("ingest", str(folder / "documents"), env=env, cwd=folder) as ingest:
        assert ingest.wait(120) == 0
    with started("serve", "--workers", "2", "--json", env=env, cwd=folder) as server:
        address_of(server)  # it takes requests; what it says is the public address
        port = free_port()
        site = SITE.replace("8443", f"127.0.0.1:{port}").replace("http://attest:3978", f"http://127.0.0.1:{inner}")
        with running(site.replace("/etc/nginx/tls", str(folder)), port):
            yield Front(port, context)
        server.terminate()
        server.wait(60)


def test_the_server_is_ready_through_nginx(front: Front) -> None:
    status, _, text = front.ask("/readyz")
    assert (status, json.loads(text)["status"]) == (200, "ready")


def test_a_question_is_answered_with_a_key_and_refused_without(front: Front) -> None:
    question = {"question": "How long does a refund take?"}
    assert front.ask("/api/ask", question)[0] == 401
    status, _, text = front.ask("/api/ask", question, {"Authorization": f"Bearer {KEY}"})
    assert status == 200
    assert "five working days" in json.loads(text)["answer"]


def test_stages_come_as_events(front: Front) -> None:
    headers = {"Authorization": f"Bearer {KEY}", "Accept": "text/event-stream"}
    status, kind, text = front.ask("/api/ask", {"question": "How long does a refund take?"}, headers)
    assert (status, kind.split(";")[0]) == (200, "text/event-stream")
    assert text.count("event: ") > 3


def test_figures_stay_inside(front: Front) -> None:
    assert front.ask("/metrics", headers={"Authorization": f"Bearer {KEY}"})[0] == 404


def test_the_chat_page_is_not_there_for_others(front: Front) -> None:
    assert front.ask("/chat")[0] in (403, 404)


def test_openssl_makes_a_certificate_as_the_page_says(tmp_path: Path) -> None:
    page = (ROOT / "docs" / "deploy.md").read_text("utf-8")
    [line] = re.findall(r"^\s+(mkdir -p tls documents && openssl .*)$", page, re.MULTILINE)
    done = subprocess.run(["sh", "-c", line], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert {path.name for path in (tmp_path / "tls").iterdir()} == {"fullchain.pem", "privkey.pem"}
