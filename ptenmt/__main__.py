"""``python -m ptenmt``, and the command ``ptenmt``."""

# Built in. To load signal, which makes enums of it, takes 6 ms, in which a Ctrl-C would be a traceback.
import _signal  # type: ignore[import-not-found]
import os
import sys


def main() -> None:
    """Run the command line; Ctrl-C before and after the command itself ends the process at once."""
    if _signal.getsignal(_signal.SIGINT) is _signal.default_int_handler:  # ignored signals stay ignored
        _signal.signal(_signal.SIGINT, _end_process)
    from ptenmt.cli.app import main as run_command_line

    run_command_line()


def _end_process(number: int, _frame: object) -> None:
    """Nothing is left to clean up, and an exception would show as a traceback of what is being imported."""
    try:
        os.write(2, b"interrupted\n")
        sys.stdout.flush()
    finally:
        os._exit(128 + number)


if __name__ == "__main__":
    main()
