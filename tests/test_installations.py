"""The installations that the README and docs name, by pip, each in a virtual environment of its own.

They need a package index. Each of the first three installs all its dependencies. The others differ in where
ptenmt is and where it comes from: the dependencies are installed once and lent to each.
"""

import json
import os
import shutil
import signal
import subprocess
import sys
import tomllib
import urllib.request
import venv
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import clean_environment
import pytest
from server_process import running
from test_light import pair_files, saved_run

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform == "win32", reason="folders of a virtual environment"),
]

ROOT = Path(__file__).parents[1]
LIGHT = tomllib.loads((ROOT / "deploy" / "pyproject.toml").read_text(encoding="utf-8"))
SENTENCES = [
    "Gostaria de uma mesa.",
    "Muchas gracias, señor, yo no sé nada de eso.",
    "这是一个句子,我不知道。",
]


class Installation:
    """A virtual environment; commands run in an empty folder, where nothing of the clone is found."""

    def __init__(self, folder: Path) -> None:
        venv.create(folder / "venv", with_pip=True)
        self.bin, self.work = folder / "venv" / "bin", folder / "work"
        self.work.mkdir()
        self.prefix: tuple[str, ...] = ()

    def run(self, name: str, *words: str | Path, **given: Any) -> subprocess.CompletedProcess[str]:
        command = [*self.prefix, str(self.bin / name), *map(str, words)]
        return subprocess.run(
            command, **({"cwd": self.work, "capture_output": True, "text": True, "check": False} | given)
        )

    def said(self, name: str, *words: str | Path, **given: Any) -> str:
        answer = self.run(name, *words, **given)
        assert answer.returncode == 0, answer.stdout + answer.stderr
        return answer.stdout

    def install(self, *what: str | Path, **given: Any) -> None:
        environment = os.environ | clean_environment.for_pip()
        self.said("python", "-m", "pip", "install", "--quiet", *what, env=environment, **given)

    def has(self, module: str) -> bool:
        program = f"import importlib.util as util; print(util.find_spec({module!r}) is not None)"
        return self.said("python", "-c", program).strip() == "True"

    @property
    def packages(self) -> Path:
        return Path(
            self.said("python", "-c", "import sysconfig; print(sysconfig.get_path('purelib'))").strip()
        )

    def translate(self) -> None:
        """In three languages: the model knows one, and sentences in others are found out."""
        answer = self.said("ptenmt", "translate", *SENTENCES).splitlines()
        assert len(answer) == 3
        assert "table" in answer[0]


@pytest.fixture
def installation(tmp_path: Path) -> Installation:
    return Installation(tmp_path)


def test_all_that_is_not_serving_works_without_extras(installation: Installation) -> None:
    installation.install(".", cwd=ROOT)
    installation.said("pip", "check")
    installation.translate()
    demo = ("--set", "training.max_steps=3", "--set", "model.num_layers=1")
    installation.said("ptenmt", "train", "--config", "demo.yaml", *demo)
    assert "chrF2++" in installation.said("ptenmt", "evaluate", "--run", "demo")
    installation.said("ptenmt", "inspect", "attention", "--run", "demo", "este modelo", "-o", "a.svg")
    assert not installation.has("fastapi")
    refused = installation.run("ptenmt", "serve")
    assert refused.returncode != 0
    assert "pip install '.[serve]'" in refused.stderr
    assert "Traceback" not in refused.stderr


def test_what_serves_answers(installation: Installation) -> None:
    installation.install(".[serve]", cwd=ROOT)
    installation.said("pip", "check")
    assert installation.has("tensorflow")
    assert_serves(installation)


def test_without_tensorflow_one_translates_serves_and_looks_inside(
    installation: Installation, tmp_path: Path
) -> None:
    installation.install("./deploy", cwd=ROOT)
    installation.said("pip", "check")
    assert not installation.has("tensorflow")
    installation.translate()
    assert_serves(installation)
    run = ("--run", saved_run(tmp_path / "run", "sentencepiece", shared=True))
    installation.said("ptenmt", "inspect", "alignment", *run, "O gato")
    refused = installation.run("ptenmt", "train", "--config", "demo.yaml")
    assert refused.returncode != 0
    assert "this needs TensorFlow, which is not installed" in refused.stderr
    # Scores need sacreBLEU, and the model card of an export its version and Jinja2.
    installation.install("sacrebleu>=2.4,<3", "jinja2>=3.1.4")
    source, reference = pair_files(tmp_path)
    files = ("--source", source, "--reference", reference)
    assert "chrF2++" in installation.said("ptenmt", "evaluate", *run, *files)
    for form in ("ctranslate2", "argos"):
        installation.said("ptenmt", "export", *run, "--format", form)


def assert_serves(installation: Installation) -> None:
    command = [*installation.prefix, str(installation.bin / "ptenmt")]
    with running(command, cwd=installation.work) as (server, address):
        body = json.dumps({"q": SENTENCES[:2], "source": "pt", "target": "en"}).encode()
        headers = {"Content-Type": "application/json"}
        request = urllib.request.Request(f"{address}/translate", data=body, headers=headers)
        with urllib.request.urlopen(request, timeout=300) as answer:
            assert "table" in json.load(answer)["translatedText"][0]
        with urllib.request.urlopen(f"{address}/", timeout=300) as page:
            assert b"<html" in page.read()
        server.send_signal(signal.SIGTERM)
        said = server.communicate(timeout=300)
        assert server.returncode == 0, said


@pytest.fixture(scope="module")
def dependencies(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of what the light installation depends on."""
    lender = Installation(tmp_path_factory.mktemp("dependencies"))
    lender.install(*LIGHT["project"]["dependencies"], *LIGHT["build-system"]["requires"])
    return lender.packages


@pytest.fixture
def lent(tmp_path: Path, dependencies: Path) -> Callable[[str], Installation]:
    """Makes an installation with a name that has the dependencies but not ptenmt."""

    def make(name: str) -> Installation:
        (tmp_path / name).mkdir()
        installation = Installation(tmp_path / name)
        (installation.packages / "lent.pth").write_text(f"{dependencies}\n", encoding="utf-8")
        return installation

    return make


def copied_clone(folder: Path) -> Path:
    """The clone as an archive that was downloaded has it: without git, and what git ignores."""
    ignored = (".git", ".*_cache", ".venv", "__pycache__", "dist", "build", "node_modules", "*.egg-info")
    return Path(shutil.copytree(ROOT, folder, ignore=shutil.ignore_patterns(*ignored, "checkpoints")))


def packed_files(root: Path) -> set[str]:
    """What the package is of: its code, presets, starter model, page and tables."""
    places = {"ptenmt": "ptenmt", "configs": "ptenmt/configs", "models/starter": "ptenmt/models/starter"}
    return {
        f"{packed}/{file.relative_to(root / place).as_posix()}"
        for place, packed in places.items()
        for file in (root / place).rglob("*")
        if file.is_file() and "__pycache__" not in file.parts
    }


def test_an_archive_without_git_and_its_wheel_and_sdist_have_what_is_needed_and_nothing_else(
    lent: Callable[[str], Installation], tmp_path: Path
) -> None:
    clone, builder = copied_clone(tmp_path / "ptenmt-main"), lent("builder")
    builder.said("python", "-m", "hatchling", "build", cwd=clone)
    (sdist,) = (clone / "dist").glob("*.tar.gz")
    (wheel,) = (clone / "dist").glob("*.whl")
    files = {name for name in zipfile.ZipFile(wheel).namelist() if ".dist-info/" not in name}
    assert files == packed_files(clone)
    for needed in ("server/page/index.html", "models/starter/run.json", "configs/demo.yaml", "py.typed"):
        assert f"ptenmt/{needed}" in files
    for name, source in (("from-archive", clone), ("from-sdist", sdist), ("from-wheel", wheel)):
        installation = lent(name)
        installation.install("--no-deps", source)
        installation.translate()


def test_a_path_may_have_spaces_and_other_letters(
    lent: Callable[[str], Installation], tmp_path: Path
) -> None:
    clone = copied_clone(tmp_path / "o meu código, 中文 $x")
    installation = lent("a máquina de traduzir ñ")
    installation.install("--no-deps", "--editable", clone)
    file = installation.work / "não é.txt"
    file.write_text("Gostaria de uma mesa.\n", encoding="utf-8")
    installation.said("ptenmt", "translate", "-i", file, "-o", "saída de hoje.txt")
    assert "table" in (installation.work / "saída de hoje.txt").read_text(encoding="utf-8")


def test_who_may_not_write_the_installation_uses_it(lent: Callable[[str], Installation]) -> None:
    installation = lent("installed-by-another")
    installation.install("--no-deps", ROOT)
    package = installation.packages / "ptenmt"
    for path in (package, *package.rglob("*")):
        path.chmod(0o555 if path.is_dir() else 0o444)
    if os.getuid() == 0:  # whom permissions do not stop
        if shutil.which("setpriv") is None:
            pytest.skip("without setpriv, root may write all")
        installation.prefix = ("setpriv", "--bounding-set", "-dac_override")
    refused = installation.run("python", "-c", f"open({str(package / 'x')!r}, 'w')")
    assert "PermissionError" in refused.stderr
    try:
        installation.translate()
        installation.said("ptenmt", "info", "--run", "starter")
        assert_serves(installation)
    finally:
        for folder in (package, *package.rglob("*/")):
            folder.chmod(0o755)
