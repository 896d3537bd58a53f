"""The certificates that clients share: read once, and as strict as httpx is."""

from __future__ import annotations

import ssl

import pytest

from grounding.web.tls import tls_context


@pytest.mark.parametrize("trust_env", [True, False])
def test_clients_share_what_was_read_and_check_names_and_certificates(trust_env: bool) -> None:
    shared = tls_context(trust_env=trust_env)
    assert shared is tls_context(trust_env=trust_env)
    assert (shared.verify_mode, shared.check_hostname) == (ssl.CERT_REQUIRED, True)
