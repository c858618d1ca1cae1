"""The events of a training, or of its start."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from ptenmt.config import Config
from ptenmt.training.events import Event, StepDone, TrainingStarted
from ptenmt.training.session import train


class EnoughError(Exception):
    """Ends a training whose beginning was all that mattered."""


def begin(config: Config, run: Path, **options: Any) -> list[Event]:
    """Train up to the point where the first step would follow."""
    events: list[Event] = []

    def on_event(event: Event) -> None:
        events.append(event)
        if isinstance(event, TrainingStarted):
            raise EnoughError

    with pytest.raises(EnoughError):
        train(config, run, on_event=on_event, **options)
    return events


def of(kind: type, events: list[Event]) -> list[Any]:
    return [event for event in events if isinstance(event, kind)]


def ends_of_epochs(events: Iterable[Event]) -> list[StepDone]:
    """The last step of each epoch."""
    return list({event.epoch: event for event in events if isinstance(event, StepDone)}.values())
