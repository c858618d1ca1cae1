"""``python -m ptenmt``."""

from ptenmt.cli.app import main

main()
