"""ptenmt trains, inspects and runs a Portuguese→English Transformer."""

__version__ = "0.1.0"
