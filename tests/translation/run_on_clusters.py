"""A corpus translated by the programs of docs/scaling.md; it needs a Python with ray or pyspark.

    python run_on_clusters.py ray|spark RUN INPUT OUTPUT FOLDER

``OUTPUT`` gets a line for each of ``INPUT``. With Ray, the actor that is first asked for a second batch dies.
"""

import ast
import os
import re
import sys
from pathlib import Path
from typing import Any

RUN, SOURCE, TARGET, FOLDER = sys.argv[2], *map(Path, sys.argv[3:])
PLACES = {
    "/shared/runs/mine": RUN,
    "/shared/corpus.pt": str(FOLDER / "parts"),
    "/shared/corpus": str(FOLDER / "translated"),
    "batch_size=2048": "batch_size=64",
    "concurrency=16": "concurrency=2",
}


def statements(heading: str) -> list[ast.stmt]:
    """The program below a heading of the page, for this machine."""
    page = (Path(__file__).parents[2] / "docs" / "scaling.md").read_text(encoding="utf-8")
    found = re.search(r"```python\n(.*?)```", page[page.index(f"### {heading}\n") :], re.DOTALL)
    assert found is not None
    program = found[1]
    for before, after in PLACES.items():
        program = program.replace(before, after)
    return ast.parse(program).body


def run(body: list[ast.stmt]) -> None:
    exec(compile(ast.Module(body, []), "docs/scaling.md", "exec"), globals())


def by_ray(lines: list[str]) -> list[str]:
    import ray

    (FOLDER / "parts").mkdir()
    for part in range(4):
        of_part = lines[part * len(lines) // 4 : (part + 1) * len(lines) // 4]
        (FOLDER / "parts" / f"{part}.txt").write_text("".join(f"{line}\n" for line in of_part))
    ray.init(num_cpus=4, include_dashboard=False, log_to_driver=False)
    body = statements("Ray Data")
    run(body[:2])  # the import and the class
    documented: Any = globals()["Translate"]

    class Mortal(documented):  # type: ignore[misc]
        def __init__(self, run: str) -> None:
            super().__init__(run)
            (FOLDER / f"actor-{os.getpid()}").touch()
            self.num_batches = 0

        def __call__(self, batch: dict[str, Any]) -> dict[str, Any]:
            self.num_batches += 1
            if self.num_batches == 2 and not (FOLDER / "died").exists():
                (FOLDER / "died").touch()
                os._exit(1)
            return dict(super().__call__(batch))

    globals()["Translate"] = Mortal
    run(body[2:])
    files = sorted((FOLDER / "translated").glob("*.parquet"))
    return [row["en"] for file in files for row in ray.data.read_parquet(str(file)).take_all()]


def by_spark(lines: list[str]) -> list[str]:
    from pyspark.sql import SparkSession

    spark = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false").getOrCreate()
    globals()["corpus"] = spark.createDataFrame(list(enumerate(lines)), "id long, pt string").repartition(4)
    *body, last = statements("Spark")
    assert isinstance(last, ast.Expr)
    run(body)
    return [
        row["en"] for row in eval(compile(ast.Expression(last.value), "docs/scaling.md", "eval")).collect()
    ]


if __name__ == "__main__":
    given = SOURCE.read_text(encoding="utf-8").splitlines()
    made = by_ray(given) if sys.argv[1] == "ray" else by_spark(given)
    TARGET.write_text("".join(f"{line}\n" for line in made), encoding="utf-8")
