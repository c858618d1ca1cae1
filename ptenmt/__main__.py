"""``python -m ptenmt``, and the command ``ptenmt``."""

from ptenmt.signals import end_process_on_interrupt


def main() -> None:
    """Run the command line; Ctrl-C before and after the command itself ends the process at once."""
    end_process_on_interrupt()
    from ptenmt.cli.app import main as run_command_line

    run_command_line()


if __name__ == "__main__":
    main()
