"""What the fields of a config section are made of."""

from dataclasses import field
from typing import Any

from ptenmt.errors import ConfigError


def location(default: str | None = None) -> Any:
    """A file or folder, relative to the working folder; it is made absolute and may differ on resuming."""
    return field(default=default, metadata={"path": True, "resumable": True})


def storage(default: str | None = None) -> Any:
    """A location that says where on this machine something is kept or found, and nothing else."""
    return field(default=default, metadata={"path": True, "resumable": True, "storage": True})


def resumable(default: Any) -> Any:
    """An option that may differ when a run is resumed: the weights do not depend on it."""
    return field(default=default, metadata={"resumable": True})


def require(condition: bool, message: str) -> None:
    """Refuse a config in which the condition does not hold.

    Raises:
        ConfigError: With the message, which names the option and its value.
    """
    if not condition:
        raise ConfigError(message)
