"""A certificate authority for one test run, which signs the certificates of test servers."""

from __future__ import annotations

import datetime as dt
import ssl
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

_DAY = dt.timedelta(days=1)


class Authority:
    """Signs server certificates; its own certificate is in `file`."""

    def __init__(self, folder: Path, name: str = "authority") -> None:
        self._folder = folder
        self._key = ec.generate_private_key(ec.SECP256R1())
        self._name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
        now = dt.datetime.now(dt.UTC)
        builder = self._builder(self._name, self._key, now - _DAY, now + _DAY)
        certificate = builder.add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        self.file = folder / f"{name}.pem"
        self.file.write_bytes(certificate.sign(self._key, hashes.SHA256()).public_bytes(serialization.Encoding.PEM))

    def server(self, host: str, *, expired: bool = False, protocols: tuple[str, ...] = ()) -> ssl.SSLContext:
        """Return the TLS context of a server for *host*."""
        key = ec.generate_private_key(ec.SECP256R1())
        end = dt.datetime.now(dt.UTC) + (-_DAY if expired else _DAY)
        builder = self._builder(x509.Name([]), key, end - 2 * _DAY, end)
        builder = builder.add_extension(x509.SubjectAlternativeName([x509.DNSName(host)]), critical=True)
        certificate = builder.sign(self._key, hashes.SHA256())
        file = self._folder / f"{host}-{expired}.pem"
        file.write_bytes(_pem(key) + certificate.public_bytes(serialization.Encoding.PEM))
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(file)
        if protocols:
            context.set_alpn_protocols(list(protocols))
        return context

    def _builder(
        self, subject: x509.Name, key: ec.EllipticCurvePrivateKey, start: dt.datetime, end: dt.datetime
    ) -> x509.CertificateBuilder:
        return (
            x509.CertificateBuilder()
            .subject_name(subject)
            .issuer_name(self._name)
            .public_key(key.public_key())
            .serial_number(x509.random_serial_number())
            .not_valid_before(start)
            .not_valid_after(end)
        )


def _pem(key: ec.EllipticCurvePrivateKey) -> bytes:
    return key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
