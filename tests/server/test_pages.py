"""The page's files, the description of the routes, health, figures, other pages (CORS), proxies."""

import re
from typing import Any

import pytest
import requests

from ptenmt.errors import ConfigError
from ptenmt.server.application import make_app


def test_the_page_has_its_files_and_no_others(served) -> None:
    for page in ("", "docs"):
        html = served.get(f"/{page}").text
        names = re.findall(r'(?:href|src)="(page/[\w.-]+)"', html)
        assert len(names) == html.count("page/") > 3
        for name in names:
            answer = served.get(f"/{name}")
            assert (answer.status_code, answer.headers["cache-control"]) == (200, "no-cache")
            assert len(answer.content) < 500 or answer.headers["content-encoding"] == "gzip"
            tag = {"If-None-Match": answer.headers["etag"]}
            assert served.get(f"/{name}", headers=tag).status_code == 304
    for path in ("/page/", "/page/../app.py", "/page/%2e%2e/app.py", "/page//etc/passwd", "/page/x"):
        answer = served.get(path)
        assert (answer.status_code, answer.json()) == (404, {"error": "Not Found"})


def test_figures_count(serve) -> None:
    with serve() as served:
        served.translate(["o gato", "a mãe"])
        served.refused("/translate", 400, json={})
        served.get("/nowhere/x")
        text = served.get("/metrics").text
    figures = dict(re.findall(r"^(\w+(?:\{[^}]*\})?) (\S+)$", text, re.MULTILINE))
    expected = {
        'ptenmt_requests_total{route="/translate",status="200"}': "1.0",
        'ptenmt_requests_total{route="/translate",status="400"}': "1.0",
        'ptenmt_requests_total{route="other",status="404"}': "1.0",
        'ptenmt_request_seconds_count{route="/translate"}': "2.0",
        "ptenmt_queue_sentences": "0.0",
        'ptenmt_batch_sentences_sum{pair="pt-en"}': "2.0",
        'ptenmt_queue_seconds_count{pair="pt-en"}': "2.0",
        'ptenmt_characters_total{pair="pt-en"}': "11.0",
    }
    assert figures.items() >= expected.items()
    assert "process_resident_memory_bytes" in figures
    assert not re.search("_created|KATZE|gato|None", text)


def test_routes_are_described_and_others_get_the_same_kind_of_error(served) -> None:
    document = served.get("/openapi.json").json()
    kinds = document["paths"]["/translate"]["post"]["requestBody"]["content"]
    assert list(kinds) == ["application/json", "application/x-www-form-urlencoded", "multipart/form-data"]
    assert kinds["application/json"]["schema"]["required"] == ["q", "source", "target"]
    assert served.get("/spec").json() == document  # LibreTranslate's
    answer = served.get("/translate")
    assert (answer.status_code, answer.json()) == (405, {"error": "Method Not Allowed"})
    assert served.refused("/nowhere", 404) == "Not Found"
    assert served.refused("/suggest", 403, json={"q": "x"}) == "Suggestions are disabled on this server."


def test_head_is_answered_like_get_without_a_body(served) -> None:
    assert served.get("/ready").json() == {"status": "ok"}
    for path in ("/", "/health", "/languages"):
        head, get = (
            requests.request(method, served.url + path, timeout=120, headers={"Accept-Encoding": "identity"})
            for method in ("HEAD", "GET")
        )
        assert (head.status_code, head.content) == (200, b"")
        assert head.headers["content-length"] == str(len(get.content))


def test_urls_are_those_of_the_proxy(serve) -> None:
    forwarded = {"Host": "example.org:8443", "X-Forwarded-Proto": "https"}
    with serve(prefix="/pt") as served:
        answer = served.upload(headers=forwarded).json()
        token = answer["translatedFileUrl"].removeprefix("https://example.org:8443/pt/download_file/")
        assert served.get(f"/download_file/{token}").text == "O GATO"
        redirect = served.get("/docs/", headers=forwarded, allow_redirects=False)
        assert redirect.headers["location"] == "https://example.org:8443/pt/docs"
        assert served.get("/page/app.js").status_code == 200


def test_other_origins_are_answered_only_if_allowed(serve, served) -> None:
    origin = {"Origin": "https://example.org"}
    answer = served.get("/languages", headers=origin)
    assert "access-control-allow-origin" not in answer.headers
    with serve(origins=["https://example.org"]) as open_one:
        for name, allowed in (("https://example.org", "https://example.org"), ("https://else.org", None)):
            answer = open_one.get("/languages", headers={"Origin": name})
            assert answer.headers.get("access-control-allow-origin") == allowed
        too_much = open_one.send("/detect", data=b"x" * 100_000, headers=origin)
        assert too_much.status_code == 413
        assert too_much.headers["access-control-allow-origin"] == "https://example.org"
        assert too_much.headers["access-control-expose-headers"].lower() == "retry-after"


def test_an_origin_that_no_browser_names_is_said() -> None:
    for origin in ("example.org", "https://ok.org/", "https://OK.org", "null", "", "**"):
        with pytest.raises(ConfigError, match="is not the origin"):
            make_app(Any, origins=["*", "https://ok.org", "http://[::1]:8080", origin])  # type: ignore[arg-type]
