"""Issues the certificates of the test web's hosts."""

from __future__ import annotations

import ssl
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from hashlib import sha256
from ipaddress import ip_address
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from .page import Certificate

_DAY = timedelta(days=1)


class CertificateAuthority:
    """A certificate authority for one web; it issues valid and invalid certificates for any name."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._key = ec.generate_private_key(ec.SECP256R1())
        self._host_key = ec.generate_private_key(ec.SECP256R1())  # one for all hosts: generating keys is slow
        self._certificate = self._root()
        self.file = folder / "ca.pem"
        self.file.write_bytes(_pem(self._certificate))

    def issue(self, name: str, kind: Certificate = "valid") -> Path:
        """Return the PEM file with certificate and key of a host name."""
        file = self._folder / f"{sha256(f'{kind} {name}'.encode()).hexdigest()}.pem"
        if not file.exists():
            key = self._host_key.private_bytes(
                serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
            )
            file.write_bytes(_pem(self._leaf(name, kind)) + key)
        return file

    def server_context(self, kind_of: Callable[[str], Certificate]) -> ssl.SSLContext:
        """Return a TLS context that sends the certificate of the requested name (SNI)."""

        # Bounded, because a context is some tens of kB and a host farm has no end.
        @lru_cache(maxsize=1024)
        def context_for(name: str, kind: Certificate) -> ssl.SSLContext:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(self.issue(name, kind))
            context.set_alpn_protocols(["http/1.1"])
            return context

        def choose(connection: ssl.SSLObject | ssl.SSLSocket, name: str | None, _: ssl.SSLContext) -> None:
            if name is not None:
                connection.context = context_for(name, kind_of(name))

        default = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        default.load_cert_chain(self.issue("127.0.0.1"))
        default.set_alpn_protocols(["http/1.1"])
        default.sni_callback = choose
        return default

    def _root(self) -> x509.Certificate:
        name = _named("Test web CA")
        builder = _builder(name, name, self._key.public_key(), _now() - _DAY, _now() + 30 * _DAY)
        return (
            builder.add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
            .add_extension(_usage(signs_certificates=True), critical=True)
            .sign(self._key, hashes.SHA256())
        )

    def _leaf(self, name: str, kind: Certificate) -> x509.Certificate:
        subject = _named("Test web host")  # the name itself stands in the extension; this field is too short
        issuer, signer = self._certificate.subject, self._key
        if kind == "self-signed":
            issuer, signer = subject, self._host_key
        end = _now() - _DAY if kind == "expired" else _now() + 20 * _DAY
        shown = "wrong-name.invalid" if kind == "wrong-name" else name
        builder = _builder(subject, issuer, self._host_key.public_key(), end - 21 * _DAY, end)
        authority = x509.AuthorityKeyIdentifier.from_issuer_public_key(signer.public_key())
        return (
            builder.add_extension(x509.SubjectAlternativeName([_general_name(shown)]), critical=False)
            .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
            .add_extension(_usage(signs_certificates=False), critical=True)
            .add_extension(authority, critical=False)
            .sign(signer, hashes.SHA256())
        )


def _builder(
    subject: x509.Name, issuer: x509.Name, key: ec.EllipticCurvePublicKey, start: datetime, end: datetime
) -> x509.CertificateBuilder:
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(key)
        .serial_number(x509.random_serial_number())
        .not_valid_before(start)
        .not_valid_after(end)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key), critical=False)
    )


def _usage(*, signs_certificates: bool) -> x509.KeyUsage:
    return x509.KeyUsage(
        digital_signature=True,
        key_cert_sign=signs_certificates,
        crl_sign=signs_certificates,
        content_commitment=False,
        key_encipherment=False,
        data_encipherment=False,
        key_agreement=False,
        encipher_only=False,
        decipher_only=False,
    )


def _general_name(name: str) -> x509.GeneralName:
    try:
        return x509.IPAddress(ip_address(name))
    except ValueError:
        return x509.DNSName(name)


def _named(common_name: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, common_name)])


def _now() -> datetime:
    return datetime.now(UTC)


def _pem(certificate: x509.Certificate) -> bytes:
    return certificate.public_bytes(serialization.Encoding.PEM)
