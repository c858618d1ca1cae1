"""How the learning rate will go, before anything is trained."""

from typing import TYPE_CHECKING

import numpy as np

from ptenmt.config import Config, TrainingConfig
from ptenmt.errors import ConfigError
from ptenmt.inspection.drawing import draw
from ptenmt.inspection.pictures import Line, LinePlot
from ptenmt.schedule import learning_rate, num_warmup_steps

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_MOST_POINTS = 1000
_WARMUPS_SHOWN = 5
_FEWEST_SHOWN = 100


def schedule_plot(config: Config, steps: int | None = None) -> LinePlot:
    """The learning rate of each update.

    Args:
        config: Whose sections training and model say how it goes.
        steps: Updates in the whole training. By default ``training.max_steps``; without that too, five times
            the warm-up is drawn, unless how the rate goes depends on where the training ends.

    Raises:
        ConfigError: It does, and that is not known.
    """
    options = config.training
    total = steps or options.max_steps or _some_steps(options)
    warmup = num_warmup_steps(options, total)
    points = np.linspace(1, total, min(total, _MOST_POINTS)).round()
    at = np.union1d(points, [warmup] if 1 <= warmup <= total else [])
    rates = learning_rate(at, options, config.model.d_model, total)
    highest = int(np.argmax(rates))
    return LinePlot(
        title=f"Learning rate ({options.schedule}): {rates[highest]:.4g} at step {at[highest]:,.0f}, "
        f"{rates[-1]:.4g} at step {total:,}",
        x_name="step",
        y_name="",
        lines=[Line(name="", x=at, y=rates)],
    )


def schedule_figure(config: Config, steps: int | None = None) -> "Figure":
    """Draw ``schedule_plot``; arguments and errors as there."""
    return draw([schedule_plot(config, steps)])


def _some_steps(options: TrainingConfig) -> int:
    """As many as show the warm-up and what follows it."""
    if options.schedule == "cosine" or options.warmup_steps is None:
        what = "training.schedule=cosine" if options.schedule == "cosine" else "training.warmup_fraction"
        raise ConfigError(
            f"{what}: how the learning rate goes depends on how many steps the training has",
            "give --steps N; ptenmt train --dry-run counts them",
        )
    return max(_WARMUPS_SHOWN * options.warmup_steps, _FEWEST_SHOWN)
