"""Files of TensorFlow variables: written whole or not at all, and read back."""

import contextlib
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import tensorflow as tf

from ptenmt.atomic_files import remove_unfinished, sync
from ptenmt.errors import CheckpointError, OutputError

# What TensorFlow and its Python side make of files that are cut short, spoilt or lost, among other things.
_UNREADABLE = (tf.errors.OpError, IndexError, ValueError)
_UNFINISHED = ".saving"


class DamagedError(CheckpointError):
    """A checkpoint's files are cut short, spoilt or lost."""


def write_variables(variables: tf.train.Checkpoint, path: Path) -> None:
    """Write a checkpoint into a folder of its own and move it from there, its index last.

    TensorFlow writes in place, and a process that dies leaves what looks like a damaged checkpoint.

    Raises:
        CheckpointError: The disk is full or the folder cannot be written.
    """
    with saving(path.parent):
        aside = path.parent / _UNFINISHED
        aside.mkdir(parents=True, exist_ok=True)
        variables.write(str(aside / path.name))
        files = sorted(aside.glob(f"{path.name}.*"))
        for file in files:
            sync(file)
        for file in files:  # in this order: data, index
            file.replace(path.parent / file.name)
        aside.rmdir()
        sync(path.parent)


@contextmanager
def reading(path: Path) -> Iterator[None]:
    """Say what is wrong with a checkpoint that cannot be read.

    Args:
        path: Without an ending.

    Raises:
        DamagedError: Its files are cut short, spoilt or lost.
        CheckpointError: It may be whole, but cannot be read, or lacks some of the variables.
    """
    try:
        yield
    except AssertionError as error:
        raise CheckpointError(
            f"checkpoint {path} does not hold all that is wanted",
            "it was written by another version of ptenmt: go on with that one, or train anew with --fresh",
        ) from error
    except tf.errors.ResourceExhaustedError as error:
        raise CheckpointError(f"checkpoint {path} cannot be read: {_first_line(error)}") from error
    except _UNREADABLE as error:
        try:
            for file in path.parent.glob(f"{path.name}.*"):
                file.read_bytes()
        except OSError as reason:
            raise CheckpointError(f"checkpoint {path} cannot be read: {reason.strerror}") from reason
        raise DamagedError(f"checkpoint {path} is damaged: {_first_line(error)}") from error


@contextmanager
def saving(folder: Path) -> Iterator[None]:
    """Leave nothing behind of a save that fails, and say what to do.

    Raises:
        CheckpointError: The disk is full or the folder cannot be written.
    """
    try:
        yield
    except (tf.errors.OpError, OSError, OutputError) as error:
        with contextlib.suppress(OSError):
            remove_unfinished_variables(folder)
        raise CheckpointError(
            f"cannot save a checkpoint in {folder}: {_first_line(error)}",
            "the checkpoints before it are unharmed: make room, then train again to resume",
        ) from error


def remove_unfinished_variables(folder: Path) -> None:
    """Remove what saves that failed or were killed have left behind."""
    aside = folder / _UNFINISHED
    for index in aside.glob("*.index"):  # its data may have been moved already
        if not (folder / index.name).exists():
            remove_variables(folder / index.stem)
    shutil.rmtree(aside, ignore_errors=True)
    remove_unfinished(folder)


def remove_variables(checkpoint: Path) -> None:
    """Remove a checkpoint's files: its index first, without which it is none."""
    for file in sorted(checkpoint.parent.glob(f"{checkpoint.name}.*"), reverse=True):
        file.unlink(missing_ok=True)


def _first_line(error: Exception) -> str:
    return str(getattr(error, "message", error)).splitlines()[0]
