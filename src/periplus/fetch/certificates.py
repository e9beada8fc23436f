"""Which certificate authorities are trusted?

Apart from `request.py`, because the supervisor checks the setting without loading libcurl.
"""

from __future__ import annotations

import ssl

import certifi

from periplus.errors import ConfigError


def certificate_authorities(ca_file: str = "") -> tuple[str, str]:
    """A PEM file and a folder, one of them empty: those of the settings, else of the system, else Mozilla's list."""
    if ca_file:
        try:
            ssl.create_default_context(cafile=ca_file)
        except OSError as error:  # also what ssl raises for a file without certificates
            why = error.strerror or str(error)
            raise ConfigError(f"fetch.ca_file {ca_file!r} cannot be used", why, "It has to be a PEM file.") from error
        return ca_file, ""
    paths = ssl.get_default_verify_paths()
    if paths.cafile:
        return paths.cafile, ""
    return ("", paths.capath) if paths.capath else (certifi.where(), "")
