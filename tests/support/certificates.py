"""Certificates of an authority of our own, for servers and clients of a test."""

from __future__ import annotations

import subprocess
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path


@dataclass(frozen=True)
class Certificates:
    """Files: the authority, and a key and a certificate that it signed."""

    authority: Path
    key: Path
    certificate: Path


def certificates(folder: Path, host: str = "127.0.0.1") -> Certificates:
    """Make an authority, and a certificate of it for an address of this machine."""
    made = Certificates(folder / "ca.pem", folder / "key.pem", folder / "cert.pem")
    request, extension = folder / "request.pem", folder / "extension"
    extension.write_text(f"subjectAltName=IP:{host},DNS:localhost\n")
    curve = ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes")
    _openssl(
        *("req", "-x509", *curve, "-days", "2", "-subj", "/CN=authority"),
        *("-keyout", folder / "ca.key", "-out", made.authority),
    )
    _openssl("req", *curve, "-subj", "/CN=server", "-keyout", made.key, "-out", request)
    _openssl(
        *("x509", "-req", "-days", "2", "-in", request, "-extfile", extension),
        *("-CA", made.authority, "-CAkey", folder / "ca.key", "-CAcreateserial"),
        *("-out", made.certificate),
    )
    return made


def _openssl(*args: str | Path) -> None:
    subprocess.run(["openssl", *args], check=True, capture_output=True)
