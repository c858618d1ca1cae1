"""The machine a training runs on: threads, devices, distribution strategy, memory."""

import contextlib
import sys
from collections.abc import Callable

import tensorflow as tf

from ptenmt.config import Config
from ptenmt.errors import ConfigError, TrainingError
from ptenmt.training.distributed import Cluster, meet
from ptenmt.translation.ctranslate2_engine import available_cores


def prepare(
    config: Config, on_warning: Callable[[str], None], cluster: Cluster | None = None
) -> tf.distribute.Strategy:
    """Configure TensorFlow for a training; what the process has initialised already stays.

    Args:
        config: The run's options.
        on_warning: Called with a message for each option that can no longer take effect.
        cluster: The workers that train together; None for a single process.

    Raises:
        ConfigError: The machine lacks the devices that ``machine.strategy`` needs.
        TrainingError: Other workers cannot be reached.
    """
    machine = config.machine
    try:
        tf.config.threading.set_intra_op_parallelism_threads(machine.threads or available_cores())
        tf.config.threading.set_inter_op_parallelism_threads(machine.threads or available_cores())
    except RuntimeError:
        if machine.threads is not None:
            on_warning("TensorFlow is already initialised: machine.threads has no effect")
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
            "start it in a new process, before anything else uses TensorFlow",
        ) from error


def _strategy(name: str) -> tf.distribute.Strategy:
    devices = tf.config.list_logical_devices("GPU") or tf.config.list_logical_devices("CPU")
    if name == "mirrored" and len(devices) == 1:
        raise ConfigError(
            "machine.strategy=mirrored needs several devices, and TensorFlow sees one",
            "leave it at auto; check nvidia-smi, and pip install 'tensorflow[and-cuda]'",
        )
    wants_all = name in ("auto", "multi_worker") and devices[0].device_type == "GPU" and len(devices) > 1
    if name == "mirrored" or wants_all:
        return tf.distribute.MirroredStrategy([device.name for device in devices])
    return tf.distribute.get_strategy()


def peak_memory() -> int | None:
    """Peak resident memory of this process in bytes; None where the system does not report it."""
    try:
        import resource
    except ImportError:  # Windows
        return None
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else 1024 * peak


def peak_device_memory() -> int | None:
    """Peak memory of tensors on the first GPU in bytes; None without one."""
    if not tf.config.list_logical_devices("GPU"):
        return None
    return int(tf.config.experimental.get_memory_info("GPU:0")["peak"])
