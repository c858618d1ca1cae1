"""What a training runs on: threads, memory, devices, machines."""

import contextlib
from collections.abc import Callable

import tensorflow as tf

from ptenmt.config import Config
from ptenmt.cores import available_cores
from ptenmt.errors import ConfigError, TrainingError
from ptenmt.training.cluster import Cluster, meet


def prepare(
    config: Config, on_warning: Callable[[str], None], cluster: Cluster | None = None
) -> tf.distribute.Strategy:
    """Set TensorFlow up for a training; what the process has initialised already stays as it is.

    Args:
        config: The run's options.
        on_warning: Told, in a sentence, of what cannot be set any more.
        cluster: The workers that train together; None if this process trains alone.

    Raises:
        ConfigError: The machine has not what ``machine.strategy`` asks for.
        TrainingError: Other workers cannot be reached.
    """
    machine = config.machine
    try:
        tf.config.threading.set_intra_op_parallelism_threads(machine.threads or available_cores())
        tf.config.threading.set_inter_op_parallelism_threads(machine.threads or available_cores())
    except RuntimeError:
        if machine.threads is not None:
            on_warning("TensorFlow was at work before: machine.threads has no effect on it any more")
    with contextlib.suppress(RuntimeError):
        for gpu in tf.config.list_physical_devices("GPU"):
            tf.config.experimental.set_memory_growth(gpu, True)
    if config.training.deterministic:
        tf.config.experimental.enable_op_determinism()
    return _strategy(machine.strategy) if cluster is None else _join(cluster)


def _join(cluster: Cluster) -> tf.distribute.Strategy:
    meet(cluster)
    try:
        return tf.distribute.MultiWorkerMirroredStrategy()
    except (RuntimeError, ValueError, tf.errors.OpError) as error:
        reason = str(error).splitlines()[0]
        raise TrainingError(
            f"{cluster.name(cluster.index)} cannot join the others: {reason}",
            "start it in a process of its own, where TensorFlow has not been at work before",
        ) from error


def _strategy(name: str) -> tf.distribute.Strategy:
    devices = tf.config.list_logical_devices("GPU") or tf.config.list_logical_devices("CPU")
    if name == "mirrored" and len(devices) == 1:
        raise ConfigError(
            "machine.strategy=mirrored needs several devices, and TensorFlow sees one",
            "leave it at auto; nvidia-smi and pip install 'tensorflow[and-cuda]' help to find more",
        )
    wants_all = name in ("auto", "multi_worker") and devices[0].device_type == "GPU" and len(devices) > 1
    if name == "mirrored" or wants_all:
        return tf.distribute.MirroredStrategy([device.name for device in devices])
    return tf.distribute.get_strategy()
