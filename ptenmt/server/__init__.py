"""Translation over HTTP: LibreTranslate's API, introspection, and a web page."""
