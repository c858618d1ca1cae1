"""Whole trainings: a run that is ready to translate, and a student of other runs."""

from ptenmt.native_libraries import load_tensorflow

load_tensorflow()  # before a module below imports it

from ptenmt.recipes.training import train  # noqa: E402

__all__ = ["train"]
