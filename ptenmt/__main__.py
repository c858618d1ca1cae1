"""``python -m ptenmt``, and the command ``ptenmt``."""

import signal


def main() -> None:
    """Run the command line; Ctrl-C while it is still being imported ends the process without a traceback."""
    handler = signal.getsignal(signal.SIGINT)
    if handler is signal.default_int_handler:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    from ptenmt.cli.app import main as run_command_line

    signal.signal(signal.SIGINT, handler)
    run_command_line()


if __name__ == "__main__":
    main()
