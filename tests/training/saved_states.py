"""What two trainings left, to be compared."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import tensorflow as tf

from ptenmt.runs import History, Run


def tensors(run: Run) -> dict[str, Any]:
    """All that the newest checkpoint holds, but for what says how often and how long."""
    reader = tf.train.load_checkpoint(str(run.checkpoints()[0]))
    unlike = ("save_counter", "seconds", "_CHECKPOINTABLE")
    return {
        name: reader.get_tensor(name)
        for name in reader.get_variable_to_shape_map()
        if not name.startswith(unlike)
    }


def learnt(run: Run) -> dict[str, Any]:
    """Of these, weights, their averages, the optimizer's variables, sums and positions."""
    kinds = ("weights/", "averages/", "optimizer/", "of_", "since_", "global_step", "step_in_epoch")
    return {name: value for name, value in tensors(run).items() if name.startswith(kinds)}


def assert_same(found: Mapping[str, Any], expected: Mapping[str, Any]) -> None:
    assert found.keys() == expected.keys()
    for name, value in found.items():
        np.testing.assert_array_equal(value, expected[name], err_msg=name)


def losses(run: Run) -> list[tuple[float, float]]:
    return [(line["train"]["loss"], line["train"]["accuracy"]) for line in History(run.path).validations()]
