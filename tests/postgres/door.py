"""A door of TCP in front of a server that listens at a socket in a folder: with TLS or without knowing of it, and as far away as it is told.

`python -m tests.postgres.door SOCKET SECONDS` prints its port and is open until its standard input ends, in a process of its own, so that it takes nothing from
those who are measured.
"""

from __future__ import annotations

import datetime as dt
import queue
import socket
import ssl
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

Copy = Callable[[socket.socket, socket.socket], None]
_AT_ONCE = (socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
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
def door(
    behind: Path, certificate: Certificate | None = None, delay_s: float = 0.0, passing: threading.Event | None = None
) -> Iterator[int]:
    """The port of a door to the socket file `behind`, which answers a request for TLS as one that has the certificate, or has none. `delay_s`: seconds that what is said
    is under way, each way. `passing`: while it is not set nothing passes a door without a delay, as where a cable is pulled; it arrives afterwards.
    """
    context = None
    if certificate is not None:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate.cert, certificate.key)
    with socket.create_server(("127.0.0.1", 0)) as listening:
        copy = partial(_copy_later, delay_s=delay_s) if delay_s else partial(_copy, passing=passing)
        threading.Thread(target=_serve, args=(listening, behind, context, copy), daemon=True).start()
        yield int(listening.getsockname()[1])
        with suppress(OSError):
            listening.shutdown(socket.SHUT_RDWR)


def _serve(listening: socket.socket, behind: Path, context: ssl.SSLContext | None, copy: Copy) -> None:
    with suppress(OSError):  # it is closed
        while True:
            came, _ = listening.accept()
            threading.Thread(target=_pass, args=(came, behind, context, copy), daemon=True).start()


def _pass(came: socket.socket, behind: Path, context: ssl.SSLContext | None, copy: Copy) -> None:
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
        back = threading.Thread(target=copy, args=(there, came), daemon=True)
        back.start()
        copy(came, there)
        back.join()


def _copy(source: socket.socket, target: socket.socket, passing: threading.Event | None) -> None:
    with suppress(OSError):
        data = b"begun"
        while data:
            data = source.recv(65536)
            if passing is not None:
                passing.wait()
            target.sendall(data)
        target.shutdown(socket.SHUT_WR)


def _copy_later(source: socket.socket, target: socket.socket, delay_s: float) -> None:
    """Copies what is said as far behind as it is under way: what is said meanwhile does not wait for it."""
    for end in (source, target):
        if end.family == socket.AF_INET:
            end.setsockopt(*_AT_ONCE)
    under_way: queue.SimpleQueue[tuple[float, bytes]] = queue.SimpleQueue()
    threading.Thread(target=_arrive, args=(under_way, target), daemon=True).start()
    data = b"begun"
    while data:
        try:
            data = source.recv(65536)
        except OSError:
            data = b""
        under_way.put((time.monotonic() + delay_s, data))


def _arrive(under_way: queue.SimpleQueue[tuple[float, bytes]], target: socket.socket) -> None:
    with suppress(OSError):
        while True:
            due, data = under_way.get()
            time.sleep(max(0.0, due - time.monotonic()))
            if not data:
                target.shutdown(socket.SHUT_WR)
                return
            target.sendall(data)


def main() -> None:
    with door(Path(sys.argv[1]), delay_s=float(sys.argv[2])) as port:
        sys.stdout.write(f"{port}\n")
        sys.stdout.flush()
        sys.stdin.read()


if __name__ == "__main__":
    main()
