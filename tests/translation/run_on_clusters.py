"""A corpus translated by Ray Data or Spark, as docs/scaling.md has it; it needs a Python with ray or pyspark.

    python run_on_clusters.py ray|spark RUN INPUT OUTPUT FOLDER

``OUTPUT`` gets a line for each of ``INPUT``. With Ray, the actor that is first asked for a second batch dies.
"""

import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

BATCH = 64


class Translate:
    """An actor of Ray Data, with a model of its own."""

    def __init__(self, run: str, folder: str) -> None:
        from ptenmt import Translator

        self.translator, self.folder = Translator.load(run, threads=1), Path(folder)
        (self.folder / f"actor-{os.getpid()}").touch()
        self.num_batches = 0

    def __call__(self, batch: dict[str, Any]) -> dict[str, Any]:
        self.num_batches += 1
        if self.num_batches == 2 and not (self.folder / "died").exists():
            (self.folder / "died").touch()
            os._exit(1)
        batch["en"] = [each.text for each in self.translator.translate(batch["text"].tolist())]
        return batch


def by_ray(run: str, lines: list[str], folder: str) -> list[str]:
    import ray

    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False)
    ray.data.DataContext.get_current().execution_options.preserve_order = True
    corpus = ray.data.from_items([{"text": line} for line in lines], override_num_blocks=4)
    found = corpus.map_batches(
        Translate, fn_constructor_args=(run, folder), batch_size=BATCH, concurrency=2, num_cpus=1
    )
    return [row["en"] for row in found.take_all()]


def by_spark(run: str, lines: list[str]) -> list[str]:
    from pyspark.sql import SparkSession

    def translate(batches: Iterator[Any]) -> Iterator[Any]:
        from ptenmt import Translator

        translator = Translator.load(run, threads=1)
        for batch in batches:
            yield batch.assign(en=[each.text for each in translator.translate(batch["pt"].tolist())])

    spark = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false").getOrCreate()
    corpus = spark.createDataFrame(list(enumerate(lines)), "id long, pt string").repartition(4)
    found = corpus.mapInPandas(translate, "id long, pt string, en string")
    return [row["en"] for row in found.orderBy("id").collect()]


def main() -> None:
    how, run, source, target, folder = sys.argv[1:]
    lines = Path(source).read_text(encoding="utf-8").splitlines()
    found = by_ray(run, lines, folder) if how == "ray" else by_spark(run, lines)
    Path(target).write_text("".join(f"{line}\n" for line in found), encoding="utf-8")


if __name__ == "__main__":
    main()
