"""Signs and checks certificates with Ed25519.

Knows: the key formats of openssl and ssh-keygen, the text that is signed. Must not know: the contents of a
certificate. The signed text is one line, ``amqpspec certificate SHA256`` and a line feed, with the certificate's
hash. Needs the package cryptography (``amqpspec[sign]``).
"""

from __future__ import annotations

import binascii
from base64 import b64decode, b64encode
from collections.abc import Iterator, Mapping
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any

from amqpspec.reports.load import ReportError

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

ALGORITHM = "ed25519"
_KEY_OCTETS = 16 << 10


def signed(document: Mapping[str, Any], key: Path) -> dict[str, Any]:
    """The document signed by the private key in a file; raises ReportError."""
    private = _private(key)
    public = private.public_key().public_bytes_raw()
    value = private.sign(message(document))
    signature = {"algorithm": ALGORITHM, "public_key": _text(public), "value": _text(value)}
    return {**document, "signature": signature}


def message(document: Mapping[str, Any]) -> bytes:
    """The octets of a certificate that are signed."""
    return f"amqpspec certificate {document['sha256']}\n".encode()


def fingerprint(document: Mapping[str, Any]) -> str:
    """The fingerprint of the key: SHA-256 of its 32 octets in hex; empty if there is no signature."""
    said = document.get("signature")
    if not isinstance(said, Mapping):
        return ""
    try:
        return sha256(b64decode(str(said.get("public_key")), validate=True)).hexdigest()
    except binascii.Error:
        return "not base64"


def signature_complaints(document: Mapping[str, Any], key: Path | None) -> Iterator[str]:
    """Errors in a certificate's signature; with ``key``, the signature must be made by that key.

    Raises ReportError.
    """
    said = document.get("signature")
    if said is None:
        if key is not None:
            yield f"expected a signature by {key}, actual: none"
        return
    try:
        octets = b64decode(str(said["public_key"]), validate=True)
        value, algorithm = b64decode(str(said["value"]), validate=True), said["algorithm"]
    except (binascii.Error, KeyError, TypeError) as problem:
        yield f"signature: expected algorithm, public_key and value, actual: {problem}"
        return
    if algorithm != ALGORITHM:
        yield f"signature: expected algorithm {ALGORITHM}, actual {algorithm!r}"
    elif key is not None and octets != (wanted := _public(key).public_bytes_raw()):
        yield f"signature: expected one by the key {sha256(wanted).hexdigest()}, actual: by {fingerprint(document)}"
    elif not _is_valid(octets, value, message(document)):
        yield "signature: it does not fit the certificate"


def _is_valid(public: bytes, value: bytes, signed: bytes) -> bool:
    _needed()
    from cryptography.exceptions import InvalidSignature
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

    try:
        Ed25519PublicKey.from_public_bytes(public).verify(value, signed)
    except (InvalidSignature, ValueError):
        return False
    return True


def _private(path: Path) -> Ed25519PrivateKey:
    _needed()
    from cryptography.exceptions import UnsupportedAlgorithm
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
    from cryptography.hazmat.primitives.serialization import load_pem_private_key, load_ssh_private_key

    octets = _read(path)
    load = load_ssh_private_key if b"OPENSSH PRIVATE KEY" in octets else load_pem_private_key
    try:
        found = load(octets, None)
    except (ValueError, TypeError, UnsupportedAlgorithm) as error:
        raise ReportError(f"{path}: expected a private key without a passphrase, actual: {error}") from error
    if not isinstance(found, Ed25519PrivateKey):
        raise ReportError(f"{path}: expected an Ed25519 key, actual: {type(found).__name__}")
    return found


def _public(path: Path) -> Ed25519PublicKey:
    _needed()
    from cryptography.exceptions import UnsupportedAlgorithm
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
    from cryptography.hazmat.primitives.serialization import load_pem_public_key, load_ssh_public_key

    octets = _read(path)
    load = load_pem_public_key if octets.startswith(b"-----") else load_ssh_public_key
    try:
        found = load(octets)
    except (ValueError, UnsupportedAlgorithm) as error:
        raise ReportError(f"{path}: expected a public key, actual: {error}") from error
    if not isinstance(found, Ed25519PublicKey):
        raise ReportError(f"{path}: expected an Ed25519 key, actual: {type(found).__name__}")
    return found


def _read(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            return file.read(_KEY_OCTETS)
    except OSError as error:
        raise ReportError(f"{path}: cannot be read: {error.strerror}") from error


def _needed() -> None:
    try:
        import cryptography  # noqa: F401  (an extra)
    except ImportError as error:
        raise ReportError("signatures need the package cryptography: pip install 'amqpspec[sign]'") from error


def _text(octets: bytes) -> str:
    return b64encode(octets).decode()
