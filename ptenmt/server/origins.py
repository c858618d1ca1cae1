"""Whose scripts may ask."""

import re
from collections.abc import Iterable

from ptenmt.errors import ConfigError

_ORIGIN = re.compile(r"[a-z][a-z0-9+.-]*://([a-z0-9._-]+|\[[0-9a-f:]+\])(:\d{1,5})?")
_USUAL_PORTS = {"http": ":80", "https": ":443"}


def check_origins(origins: Iterable[str]) -> None:
    """Refuse what no browser calls a page's origin, since it would match none.

    Raises:
        ConfigError: One is neither an origin as RFC 6454 has it in ASCII, nor ``*``.
    """
    for origin in origins:
        found = _ORIGIN.fullmatch(origin)
        scheme = origin.partition(":")[0]
        if origin != "*" and (found is None or found[2] == _USUAL_PORTS.get(scheme, "")):
            raise ConfigError(
                f"no page's origin is {origin!r}",
                "write it as browsers do, in small letters and without a path or a usual port: "
                "https://example.org or http://localhost:8080; or * for all",
            )
