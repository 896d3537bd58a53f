"""A door of TCP in front of a server that listens at a socket in a folder: with TLS, or without knowing of it."""

from __future__ import annotations

import datetime as dt
import socket
import ssl
import threading
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

SSL_REQUEST = (8).to_bytes(4, "big") + (80877103).to_bytes(4, "big")


@dataclass(frozen=True)
class Certificate:
    """A certificate of its own authority with its key, for `localhost`."""

    cert: Path
    key: Path

    @staticmethod
    def made(folder: Path, name: str) -> Certificate:
        key = ec.generate_private_key(ec.SECP256R1())
        subject = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "localhost")])
        now = dt.datetime.now(dt.UTC)
        cert = (
            x509.CertificateBuilder()
            .subject_name(subject)
            .issuer_name(subject)
            .public_key(key.public_key())
            .serial_number(x509.random_serial_number())
            .not_valid_before(now - dt.timedelta(days=1))
            .not_valid_after(now + dt.timedelta(days=1))
            .add_extension(x509.SubjectAlternativeName([x509.DNSName("localhost")]), critical=False)
            .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
            .sign(key, hashes.SHA256())
        )
        made = Certificate(folder / f"{name}.crt", folder / f"{name}.key")
        made.cert.write_bytes(cert.public_bytes(serialization.Encoding.PEM))
        plain = serialization.NoEncryption()
        made.key.write_bytes(key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, plain))
        return made


@contextmanager
def door(behind: Path, certificate: Certificate | None = None) -> Iterator[int]:
    """The port of a door to the socket file `behind`, which answers a request for TLS as one that has the certificate, or has none."""
    context = None
    if certificate is not None:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate.cert, certificate.key)
    with socket.create_server(("127.0.0.1", 0)) as listening:
        threading.Thread(target=_serve, args=(listening, behind, context), daemon=True).start()
        yield int(listening.getsockname()[1])
        with suppress(OSError):
            listening.shutdown(socket.SHUT_RDWR)


def _serve(listening: socket.socket, behind: Path, context: ssl.SSLContext | None) -> None:
    with suppress(OSError):  # it is closed
        while True:
            came, _ = listening.accept()
            threading.Thread(target=_pass, args=(came, behind, context), daemon=True).start()


def _pass(came: socket.socket, behind: Path, context: ssl.SSLContext | None) -> None:
    with ExitStack() as stack, suppress(OSError):
        stack.enter_context(closing(came))
        begun = came.recv(8, socket.MSG_WAITALL)
        if begun == SSL_REQUEST:
            came.sendall(b"N" if context is None else b"S")
            begun = b""
            if context is not None:
                came = stack.enter_context(context.wrap_socket(came, server_side=True))
        there = stack.enter_context(socket.socket(socket.AF_UNIX))
        there.connect(str(behind))
        there.sendall(begun)
        back = threading.Thread(target=_copy, args=(there, came), daemon=True)
        back.start()
        _copy(came, there)
        back.join()


def _copy(source: socket.socket, target: socket.socket) -> None:
    with suppress(OSError):
        while data := source.recv(65536):
            target.sendall(data)
        target.shutdown(socket.SHUT_WR)
