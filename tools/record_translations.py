"""Records what ptenmt translates: python tools/record_translations.py FOLDER.

To prove that a change of the code leaves translations as they were, run it before and after, and compare
the two folders with ``diff -r``. The texts are sentences of parallel corpora, everyday sentences, and lines
made of what is hard to keep: addresses, numbers, codes, capitals, emoji, terms of a glossary, HTML,
subtitles. They are translated by the commands and by a server, as a user would have it: greedily and by beam
search, with and without safeguards, by both engines, as n-best lists, after a prefix.
"""

import argparse
import gzip
import json
import random
import re
import subprocess
import sys
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[1]
CODES = (
    *r"""
    https://example.org/a?b=1&c=2 www.exemplo.pt/página ana.silva@example.org exemplo.com.br
    1.234.567,89 12.500 3,75 18h30 10% 12/03/2024 42.º 7 H2O COVID-19 A4 {name} {{count}} %1$s %d #TAG#
    #tema @user 😀 👍🏽 🇵🇹 C:\Temp\a.txt <b> & ❶
    """.split(),  # noqa: SIM905 — a list would be thirty lines
    *("R$ 5.000", "20 €", "2 500", "PT50 0002 0123"),
)
GLOSSARY = (
    "gato\tfeline\ncasa\tdwelling\nágua\tH2O\nWindows 10\tWindows 10\nmuito tempo\tages\nLisboa\tLisboa\n"
)


def corpus_lines(data: Path, num_lines: int, chance: random.Random) -> list[str]:
    """Portuguese lines of all parallel corpora, drawn at random."""
    lines = []
    for file in sorted((data / "pt-en").glob("*.tsv.gz")):
        with gzip.open(file, "rt", encoding="utf-8") as rows:
            lines += [row.partition("\t")[0] for row in rows]
    return chance.sample(lines, min(num_lines, len(lines)))


def difficult_lines(sentences: Sequence[str], num_lines: int, chance: random.Random) -> Iterator[str]:
    """Sentences with codes and numbers, in capitals, several in a line, looping, foreign, or with terms."""
    changes: tuple[Callable[[str], str], ...] = (
        lambda sentence: with_codes(sentence, chance),
        lambda sentence: with_codes(with_codes(sentence, chance), chance),
        str.upper,
        str.title,
        lambda sentence: sentence.replace(".", "…  ").replace(",", ",\u00a0"),
        lambda sentence: f"{sentence} {chance.choice(sentences)}  {chance.choice(sentences)}",
        lambda sentence: f"({sentence}) — «{chance.choice(CODES)}»",
        lambda sentence: f"O gato e a CASA: {sentence} Água em Lisboa, há muito tempo, no Windows 10.",
        lambda sentence: " ".join(sentence.split()[:2]),
        lambda sentence: (
            f"{sentence.split()[0]}: " + ", ".join(str(chance.randint(1, 999)) for _ in range(12))
        ),
        lambda sentence: " ".join([sentence.split()[0]] * 9),
        lambda sentence: sentence + " " + "".join(chance.sample(CODES, 3)),
    )
    for number in range(num_lines):
        yield changes[number % len(changes)](chance.choice(sentences))


def with_codes(sentence: str, chance: random.Random) -> str:
    """A sentence with one to three codes or numbers between its words."""
    words = sentence.split()
    for code in chance.sample(CODES, chance.randint(1, 3)):
        words.insert(chance.randint(0, len(words)), code)
    return " ".join(words)


def marked_up(sentence: str, chance: random.Random) -> str:
    """A sentence as HTML, with elements around some words and empty ones between."""
    words = sentence.replace("&", "&amp;").replace("<", "&lt;").split()
    for _ in range(chance.randint(1, 3)):
        first = chance.randrange(len(words))
        last = min(len(words) - 1, first + chance.randrange(3))
        tag = chance.choice(("b", "i", "em", "span"))
        words[first], words[last] = f"<{tag}>{words[first]}", f"{words[last]}</{tag}>"
        if first != last:
            words = [*words[:first], " ".join(words[first : last + 1]), *words[last + 1 :]]
    if chance.random() < 0.3:
        words.insert(
            chance.randrange(len(words) + 1), chance.choice(('<img src="a.png">', "<br>", '<x id="1"/>'))
        )
    return f"<p>{' '.join(words)}</p>"


def subtitles(sentences: Sequence[str]) -> str:
    """Sentences as subtitles, some of them over two."""
    blocks = []
    for number, sentence in enumerate(sentences, start=1):
        words = sentence.split()
        text = f"<i>{sentence}</i>" if number % 5 == 0 else sentence
        if number % 3 == 0 and len(words) > 6:
            text = f"{' '.join(words[:4])}\n{' '.join(words[4:])}"
        time_of_day = f"00:{number // 60:02}:{number % 60:02}"
        blocks.append(f"{number}\n{time_of_day},000 --> {time_of_day},900\n{text}\n")
    return "\n".join(blocks)


class Recorder:
    """Runs the commands and keeps what they write."""

    def __init__(self, folder: Path, run: str) -> None:
        self.folder, self.run = folder, run
        self.server = ""
        """Its address."""

    def translate(self, name: str, lines: Sequence[str], *options: str) -> None:
        """Translate lines by the command; of JSON all but the time is kept."""
        source = self.folder / "inputs" / f"{name}.txt"
        source.parent.mkdir(parents=True, exist_ok=True)
        source.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
        command = [
            sys.executable,
            "-m",
            "ptenmt",
            "translate",
            "--quiet",
            "--run",
            self.run,
            "--input",
            str(source),
        ]
        began = time.monotonic()
        done = subprocess.run(
            [*command, *options], capture_output=True, text=True, check=False, cwd=REPOSITORY
        )
        (self.folder / f"{name}.out").write_text(done.stdout + done.stderr, encoding="utf-8")
        print(f"{name}: {len(lines):,} lines in {time.monotonic() - began:.0f} s", flush=True)

    def ask(self, name: str, route: str, bodies: Sequence[dict[str, object]]) -> None:
        """Send requests to the server and keep its answers."""
        answers = []
        for body in bodies:
            data = json.dumps({"source": "pt", "target": "en", **body}).encode()
            request = urllib.request.Request(
                f"{self.server}{route}", data, {"Content-Type": "application/json"}
            )
            try:
                with urllib.request.urlopen(request, timeout=120) as answer:
                    answers.append(answer.read().decode())
            except urllib.error.HTTPError as error:
                answers.append(f"{error.code} {error.read().decode()}")
        (self.folder / f"{name}.out").write_text(
            "".join(f"{answer}\n" for answer in answers), encoding="utf-8"
        )
        print(f"{name}: {len(bodies)} requests", flush=True)

    def translate_file(self, name: str, content: str) -> None:
        """Translate a document by the server."""
        boundary = "0123456789abcdef"
        fields = {"source": "pt", "target": "en"}
        parts = [
            f'--{boundary}\r\nContent-Disposition: form-data; name="{field}"\r\n\r\n{value}\r\n'
            for field, value in fields.items()
        ]
        parts.append(
            f'--{boundary}\r\nContent-Disposition: form-data; name="file"; filename="{name}"\r\n'
            f"Content-Type: application/octet-stream\r\n\r\n{content}\r\n--{boundary}--\r\n"
        )
        request = urllib.request.Request(
            f"{self.server}/translate_file",
            "".join(parts).encode(),
            {"Content-Type": f"multipart/form-data; boundary={boundary}"},
        )
        with urllib.request.urlopen(request, timeout=600) as answer:
            path = urllib.parse.urlsplit(json.load(answer)["translatedFileUrl"]).path
        with urllib.request.urlopen(f"{self.server}{path}", timeout=60) as answer:
            (self.folder / f"{name}.out").write_bytes(answer.read())
        print(name, flush=True)


def main() -> None:
    """Record everything."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path, help="where to write what was translated")
    parser.add_argument("--data", type=Path, help="a folder with pt-en/*.tsv.gz, for sentences of corpora")
    parser.add_argument("--lines", type=int, default=20_000, help="how many lines of the corpora")
    parser.add_argument("--run", default="starter", help="the run that translates")
    given = parser.parse_args()
    given.folder.mkdir(parents=True)
    chance = random.Random(0)
    rows = (REPOSITORY / "tests" / "everyday.tsv").read_text(encoding="utf-8").splitlines()
    everyday = [row.partition("\t")[0] for row in rows]
    lines = corpus_lines(given.data, given.lines, chance) if given.data else everyday
    difficult = list(difficult_lines(everyday + lines[:1000], max(100, given.lines // 10), chance))
    recorder = Recorder(given.folder.resolve(), given.run)
    record_commands(recorder, lines, everyday, difficult)
    record_server(recorder, everyday + difficult[:600], chance)


def record_commands(
    recorder: Recorder, lines: Sequence[str], everyday: Sequence[str], difficult: Sequence[str]
) -> None:
    """Record what ``ptenmt translate`` writes."""
    greedy, bare, keras = ("--beam-size", "1"), ("--set", "decoding.safeguards=false"), ("--engine", "keras")
    recorder.translate("corpora-greedy", lines, *greedy)
    recorder.translate("corpora-greedy-bare", lines, *greedy, *bare)
    recorder.translate("corpora-beam", lines[: len(lines) // 10], "--json")
    recorder.translate("everyday", everyday, "--json")
    recorder.translate("everyday-bare", everyday, "--json", *bare)
    recorder.translate("difficult-greedy", difficult, *greedy, "--json")
    recorder.translate("difficult-beam", difficult, "--json")
    recorder.translate("difficult-bare", difficult, *bare)
    recorder.translate("difficult-n-best", difficult[:500], "--set", "decoding.num_hypotheses=4")
    recorder.translate("difficult-prefix", difficult[:500], "--prefix", "Well, the")
    recorder.translate("difficult-lines", difficult[:500], "--set", "decoding.split_sentences=false")
    recorder.translate("sampled", difficult[:200], *greedy, "--set", "decoding.top_k=5")
    recorder.translate("keras", [*everyday[:60], *difficult[:120]], *keras, *greedy)
    recorder.translate("keras-beam", difficult[:60], *keras, "--json")
    recorder.translate("keras-bare", difficult[:60], *keras, *bare)
    glossary = recorder.folder / "inputs" / "glossary.tsv"
    glossary.write_text(GLOSSARY, encoding="utf-8")
    recorder.translate("glossary", difficult, "--glossary", str(glossary), *greedy)
    recorder.translate("glossary-beam", difficult[:500], "--glossary", str(glossary), "--json")
    recorder.translate("prefix", everyday[:60], "--prefix", "I")


def record_server(recorder: Recorder, sentences: Sequence[str], chance: random.Random) -> None:
    """Record what ``ptenmt serve`` answers."""
    command = [sys.executable, "-m", "ptenmt", "serve", "--run", recorder.run, "--port", "0"]
    server = subprocess.Popen(command, cwd=REPOSITORY, stderr=subprocess.PIPE, text=True)
    try:
        recorder.server = address_of(server)
        html = [marked_up(sentence, chance) for sentence in sentences if sentence.split()]
        asked: list[dict[str, object]] = [{"q": text, "format": "html", "alternatives": 2} for text in html]
        recorder.ask("server-html", "/translate", asked)
        recorder.ask("server-texts", "/translate", [{"q": sentences[at : at + 8]} for at in range(0, 400, 8)])
        recorder.ask("server-alignment", "/v1/alignment", [{"q": text} for text in sentences[:400]])
        recorder.ask("server-alternatives", "/v1/alternatives", [{"q": text} for text in sentences[:60]])
        recorder.translate_file("page.html", "\n".join(html))
        recorder.translate_file("film.srt", subtitles([text for text in sentences if text.strip()]))
    finally:
        server.terminate()
        server.wait()


def address_of(server: "subprocess.Popen[str]") -> str:
    """What the server writes first, once it accepts requests."""
    said = ""
    for line in server.stderr or ():
        if address := re.search(r"at (http://\S+)", line):
            return address[1]
        said += line
    raise SystemExit(f"the server ended: {said}")


if __name__ == "__main__":
    main()
