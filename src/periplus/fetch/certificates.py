"""Which certificate authorities are trusted?

This module is separate from `request.py`: the supervisor checks the setting without loading libcurl.
"""

from __future__ import annotations

import ssl

import certifi

from periplus.errors import ConfigError


def certificate_authorities(ca_file: str = "") -> tuple[str, str]:
    """Return a PEM file and a folder, one of them empty: from the settings, else the system, else Mozilla's list."""
    if ca_file:
        try:
            ssl.create_default_context(cafile=ca_file)
        except OSError as error:  # ssl also raises it for a file without certificates
            why = error.strerror or str(error)
            raise ConfigError(f"fetch.ca_file {ca_file!r} cannot be used", why, "It must be a PEM file.") from error
        return ca_file, ""
    paths = ssl.get_default_verify_paths()
    if paths.cafile:
        return paths.cafile, ""
    return ("", paths.capath) if paths.capath else (certifi.where(), "")
