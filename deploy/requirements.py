"""Tells what a server needs of the packages in pyproject.toml: all but those that only training needs.

python deploy/requirements.py [pyproject.toml]
"""

import re
import sys
import tomllib
from pathlib import Path

TRAINING = {
    "importlib_resources",
    "jinja2",
    "keras",
    "matplotlib",
    "sacrebleu",
    "tensorflow",
    "tensorflow-datasets",
    "tensorflow-text",
    "urllib3",
}


def requirements(pyproject: Path) -> list[str]:
    """A line a package, with its bounds."""
    project = tomllib.loads(pyproject.read_text(encoding="utf-8"))["project"]
    named = {re.split(r"[^\w.-]", line)[0]: line for line in project["dependencies"]}
    if unknown := TRAINING - named.keys():
        raise SystemExit(f"{pyproject} has no {', '.join(sorted(unknown))}: mend TRAINING in {__file__}")
    kept = [line for name, line in named.items() if name not in TRAINING]
    return [*kept, *project["optional-dependencies"]["serve"]]


if __name__ == "__main__":
    print("\n".join(requirements(Path(*sys.argv[1:] or ["pyproject.toml"]))))
