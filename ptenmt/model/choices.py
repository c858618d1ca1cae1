"""What an option that is one of several words may be."""

from typing import Any, get_args


def check_choice(name: str, value: str, choices: Any) -> None:
    """Refuse a word that is none of the choices.

    Args:
        name: The option's.
        value: What it was given.
        choices: The ``Literal`` of what it may be.

    Raises:
        ValueError: It is none of them.
    """
    if value not in get_args(choices):
        raise ValueError(f"{name}={value!r} must be one of {', '.join(map(repr, get_args(choices)))}")
