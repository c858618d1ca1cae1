"""Translating over HTTP: LibreTranslate's API, and what a page needs to look inside."""
