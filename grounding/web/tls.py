"""TLS settings shared by all HTTP clients, read once: every client of httpx would read and parse the certificates of all authorities anew."""

from __future__ import annotations

import ssl
from functools import cache

import httpx2


@cache
def tls_context(*, trust_env: bool) -> ssl.SSLContext:
    """The TLS context that httpx itself would verify servers with, shared by the clients of this process. `trust_env`: heed SSL_CERT_FILE
    and SSL_CERT_DIR.
    """
    return httpx2.create_ssl_context(trust_env=trust_env)
