"""``python -m ptenmt``, and the command ``ptenmt``."""

import os  # these are loaded in a moment, in which a Ctrl-C would still be a traceback
import signal
import sys


def main() -> None:
    """Run the command line; Ctrl-C before and after the command itself ends the process at once."""
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:  # ignored signals stay ignored
        signal.signal(signal.SIGINT, _end_process)
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
