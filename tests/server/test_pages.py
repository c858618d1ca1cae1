"""The page's files, the description of the routes, health, figures."""

import re

import pytest
import requests

from ptenmt.server.routes.pages import PageFile

FILES = {
    "index.html": PageFile(b"<!doctype html>", "text/html; charset=utf-8", '"1"'),
    "parts/a.js": PageFile(b"1", "text/javascript; charset=utf-8", '"2"'),
}


def test_health_and_readiness(served) -> None:
    assert requests.get(f"{served.url}/health", timeout=120).json() == {"status": "ok"}
    assert requests.get(f"{served.url}/ready", timeout=120).json() == {"status": "ready"}


def test_the_page_is_looked_up_among_its_files(serve, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ptenmt.server.routes.pages.page_files", lambda: FILES)
    with serve() as served:
        for path, content in (("/", b"<!doctype html>"), ("/page/parts/a.js", b"1")):
            answer = requests.get(served.url + path, timeout=120)
            assert (answer.content, answer.headers["cache-control"]) == (content, "no-cache")
            tag = {"If-None-Match": answer.headers["etag"]}
            assert requests.get(served.url + path, headers=tag, timeout=120).status_code == 304
        for path in ("/page/", "/page/../app.py", "/page/%2e%2e/app.py", "/page//etc/passwd", "/page/x"):
            answer = requests.get(served.url + path, timeout=120)
            assert (answer.status_code, list(answer.json())) == (404, ["error"])


def test_browsers_keep_scripts_and_styles_in_a_folder_with_their_checksum(served) -> None:
    for page in ("", "docs"):
        html = requests.get(f"{served.url}/{page}", timeout=120).text
        names = re.findall(r'(?:href|src)="(page/[0-9a-f]{16}/[\w.-]+)"', html)
        assert len(names) == html.count("page/") > 3
        for name in names:
            answer = requests.get(f"{served.url}/{name}", timeout=120)
            assert answer.headers["cache-control"] == "public, max-age=31536000, immutable"


def test_the_page_has_one_script_without_imports(served) -> None:
    html = requests.get(f"{served.url}/", timeout=120).text
    (name,) = re.findall(r'src="(page/[0-9a-f]{16}/app\.js)"', html)
    script = requests.get(f"{served.url}/{name}", timeout=120).text
    assert not re.search(r"^(import|export)\b", script, re.MULTILINE)
    defined = re.findall(r"^(?:async )?(?:const|let|function|class) (\w+)", script, re.MULTILINE)
    assert {"say", "TranslationPage"} < set(defined)
    assert len(defined) == len(set(defined))


@pytest.mark.parametrize(
    ("accepted", "is_compressed"),
    [
        ("gzip", True),
        ("br, GZIP;q=0.5", True),
        ("gzip;q=0", False),
        ("gzip; q=0.0, br", False),
        ("br", False),
    ],
)
def test_pages_are_compressed_if_the_client_takes_it(served, accepted: str, is_compressed: bool) -> None:
    answer = requests.get(served.url, headers={"Accept-Encoding": accepted}, timeout=120)
    assert ("content-encoding" in answer.headers) == is_compressed
    assert answer.text.startswith("<!doctype html>")


def test_loaded_models_are_described(serve) -> None:
    with serve(pairs=("pt-en", "en-pt")) as served:
        models = requests.get(f"{served.url}/v1/models", timeout=120).json()
        assert [(model["source"], model["target"]) for model in models] == [("pt", "en"), ("en", "pt")]
        assert (models[0]["score"], models[0]["licences"]) == (None, [])


def test_figures_count(serve) -> None:
    with serve() as served:
        served.post("/translate", q=["o gato", "a mãe"], source="pt", target="en")
        served.refused("/translate", 400, json={})
        requests.get(f"{served.url}/nowhere/x", timeout=120)
        text = requests.get(f"{served.url}/metrics", timeout=120).text
    figures = dict(re.findall(r"^(\w+(?:\{[^}]*\})?) (\S+)$", text, re.MULTILINE))
    assert figures['ptenmt_requests_total{method="POST",route="/translate",status="200"}'] == "1.0"
    assert figures['ptenmt_requests_total{method="POST",route="/translate",status="400"}'] == "1.0"
    assert figures['ptenmt_requests_total{method="GET",route="other",status="404"}'] == "1.0"
    assert figures['ptenmt_request_seconds_count{route="/translate"}'] == "2.0"
    assert figures['ptenmt_sentences_total{pair="pt-en"}'] == "2.0"
    assert figures["ptenmt_queue_sentences"] == "0.0"
    assert float(figures['ptenmt_source_tokens_total{pair="pt-en"}']) > 4
    assert float(figures['ptenmt_target_tokens_total{pair="pt-en"}']) > 4
    assert figures['ptenmt_batch_sentences_sum{pair="pt-en"}'] == "2.0"
    assert figures['ptenmt_queue_seconds_count{pair="pt-en"}'] == "2.0"
    assert "process_resident_memory_bytes" in figures
    assert figures['ptenmt_characters_total{pair="pt-en"}'] == "11.0"
    assert any(name.startswith('ptenmt_build_info{python="3.') for name in figures)
    assert any(re.fullmatch(r'ptenmt_model_info{metric="bleu",.*pair="pt-en",.*}', name) for name in figures)
    assert not re.search("_created|KATZE|gato|None", text)


def test_routes_are_described(served) -> None:
    document = requests.get(f"{served.url}/openapi.json", timeout=120).json()
    kinds = document["paths"]["/translate"]["post"]["requestBody"]["content"]
    assert list(kinds) == ["application/json", "application/x-www-form-urlencoded", "multipart/form-data"]
    assert kinds["application/json"]["schema"]["required"] == ["q", "source", "target"]
    assert "/docs.js" in requests.get(f"{served.url}/docs", timeout=120).text


def test_wrong_methods_and_paths_get_the_same_kind_of_error(served) -> None:
    answer = requests.get(f"{served.url}/translate", timeout=120)
    assert (answer.status_code, answer.json()) == (405, {"error": "Method Not Allowed"})
    assert served.refused("/nowhere", 404) == "Not Found"


def test_libretranslates_further_routes(served) -> None:
    document = requests.get(f"{served.url}/openapi.json", timeout=120).json()
    assert requests.get(f"{served.url}/spec", timeout=120).json() == document
    assert served.refused("/spec", 405) == "Method Not Allowed"
    assert served.refused("/suggest", 403, json={"q": "x"}) == "Suggestions are disabled on this server."


def test_head_is_answered_like_get_without_a_body(served) -> None:
    for path in ("/", "/health", "/languages"):
        head, get = (
            requests.request(method, served.url + path, timeout=120, headers={"Accept-Encoding": "identity"})
            for method in ("HEAD", "GET")
        )
        assert (head.status_code, head.content) == (200, b"")
        assert head.headers["content-length"] == str(len(get.content))


@pytest.mark.parametrize("prefix", ["", "/pt"])
def test_urls_are_those_of_the_proxy(serve, prefix: str) -> None:
    form = {"data": {"source": "pt", "target": "en"}, "files": {"file": ("a.txt", b"o gato")}, "timeout": 20}
    forwarded = {"X-Forwarded-Host": "example.org:8443", "X-Forwarded-Proto": "https"}
    forwarded |= {} if prefix else {"X-Forwarded-Prefix": "/pt"}
    with serve(prefix=prefix) as served:
        answer = requests.post(f"{served.url}/translate_file", headers=forwarded, **form).json()
        token = answer["translatedFileUrl"].removeprefix("https://example.org:8443/pt/download_file/")
        assert requests.get(f"{served.url}/download_file/{token}", timeout=120).text == "O GATO"
        redirect = requests.get(f"{served.url}/docs/", headers=forwarded, timeout=120, allow_redirects=False)
        assert redirect.headers["location"] == "https://example.org:8443/pt/docs"
        if prefix:
            assert requests.get(f"{served.url}/pt/health", timeout=120).json() == {"status": "ok"}
            assert requests.post(f"{served.url}/pt/translate_file", **form).status_code == 200
