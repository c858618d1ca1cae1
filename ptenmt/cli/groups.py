"""Groups of commands that are imported when they are asked for."""

from collections.abc import Mapping
from importlib import import_module
from typing import Any, ClassVar

import typer
from typer.core import TyperGroup

MARKUP: Any = {"rich_markup_mode": "markdown", "pretty_exceptions_enable": False}
"""How the texts of every help are read."""


class LazyGroup(TyperGroup):
    """Imports a command when it is asked for, so that no command waits for what only others need."""

    modules: ClassVar[Mapping[str, str]]
    """Where each command is defined: as a function of its name, or as a group of commands of its name."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.commands: Any = dict.fromkeys(self.modules)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:  # noqa: ARG002 - it is the same in every context
        """Import a command; None if there is none of this name."""
        if cmd_name not in self.modules:
            return None
        found = getattr(import_module(self.modules[cmd_name]), cmd_name)
        if isinstance(found, typer.Typer):
            return typer.main.get_command(found)
        command = typer.Typer(add_completion=False, **MARKUP)
        command.command(cmd_name)(found)
        return typer.main.get_command(command)
