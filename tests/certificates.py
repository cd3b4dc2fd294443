"""An authority for tests, with the certificates that it has issued, as files.

Knows: trustme. Must not know: who serves with them.
"""

from __future__ import annotations

import ssl
from pathlib import Path

import trustme


class Certificates:
    """A server for localhost, a client called guest, and another authority that knows neither.

    The server asks its clients for a certificate; where it is ``demanded``, it takes none without.
    """

    def __init__(self, folder: Path, *, demanded: bool = False) -> None:
        authority = trustme.CA()
        self.ca, self.client, self.other = (folder / name for name in ("ca.pem", "client.pem", "other.pem"))
        authority.cert_pem.write_to_path(str(self.ca))
        trustme.CA().cert_pem.write_to_path(str(self.other))
        guest = authority.issue_cert("guest@example.org", common_name="guest")
        guest.private_key_and_cert_chain_pem.write_to_path(str(self.client))
        self.server = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        authority.issue_cert("localhost", "127.0.0.1", "::1").configure_cert(self.server)
        authority.configure_trust(self.server)
        self.server.verify_mode = ssl.CERT_REQUIRED if demanded else ssl.CERT_OPTIONAL
