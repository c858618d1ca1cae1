"""``ptenmt train`` and ``ptenmt distil``."""

import signal
from typing import TYPE_CHECKING, Annotated, Any, NoReturn

import typer

from ptenmt.cli import options
from ptenmt.cli.console import Screen, amount, counted, duration, load_tensorflow
from ptenmt.cli.runs import print_comparison, run_document
from ptenmt.cli.tables import metric_name, metric_value, print_facts
from ptenmt.cli.training_view import TrainingView
from ptenmt.config.loading import find_config, load_config
from ptenmt.evaluation.comparison import compare
from ptenmt.evaluation.systems import LoadOptions
from ptenmt.runs import COMMANDS, STARTER, Run
from ptenmt.runs.weights import best_weights

_POOR_BLEU = 10

if TYPE_CHECKING:
    from ptenmt.training.dry_run import DryRun


def train(
    screen: Screen,
    context: typer.Context,
    config: options.ConfigName,
    overrides: options.Overrides = None,
    run: options.RunToTrain = None,
    init_from: options.InitFrom = None,
    fresh: options.Fresh = False,
    dry_run: Annotated[bool, typer.Option("--dry-run")] = False,
) -> dict[str, Any]:
    """Train a model, or resume its training from the latest checkpoint.

    Ctrl-C (or SIGTERM, or a closed terminal) finishes the step, saves, and prints the command that resumes; a
    second one quits at once, without saving. Data, model size and training length are options of the config
    (sections data, tokenizer, model, batch, training and checkpoint); --set changes any of them. A dry run
    reports sizes, memory and the expected time that is left, and writes nothing into the run's folder; it may
    download and prepare data (data.cache_dir).

    Example: ptenmt train --config base.yaml --set training.epochs=10

    Example: ptenmt train --config mine.yaml --init-from base

    Args:
        dry_run: Check everything and run the largest step, without training.
    """
    settings = load_config(config, overrides or [])
    name = find_config(config).stem if run is None else run
    given: dict[str, Any] = {"fresh": fresh, "init_from": init_from}
    load_tensorflow(screen)
    from ptenmt.training.dry_run import dry_run as run_dry
    from ptenmt.training.session import train as train_run

    view = TrainingView(screen, settings)
    with screen.downloads() as show_download, view.showing():
        if dry_run:
            with screen.working("dry run"):
                trial = run_dry(settings, name, on_event=view.show, on_download=show_download, **given)
            facts = _dry_run_facts(trial)
            print_facts(f"{name}: dry run", facts)
            return {"dry_run": facts}
        result = train_run(settings, name, on_event=view.show, on_download=show_download, **given)
    if not result.is_chief:  # one worker's messages are enough
        raise typer.Exit(0 if result.stopped_by is None else 128 + signal.Signals(result.stopped_by))
    if result.stopped_by is not None:
        how = "stopped" if result.is_saved else "stopped without saving"
        _end_by_signal(result.stopped_by, how, screen, view, context)
    command, metric = COMMANDS[settings.task], settings.validation.metric
    info, best = best_weights(Run(result.run).weights_folder), ""
    if info is not None:
        best = f", best {metric_name(metric)} {metric_value(metric, info.score)} at step {info.step:,}"
    if info is not None and info.step == 0:
        screen.warn(
            "no validation was better than the initial weights, which stay the best ones: try a lower "
            "learning rate"
        )
    if info is not None and info.metric == "bleu" and (info.score or 0) < _POOR_BLEU:
        screen.warn(
            f"below {_POOR_BLEU} BLEU, translations have little to do with their sources: train longer "
            "(training.epochs), on more pairs (100,000 rather than 1,000), or from a trained model "
            f"(--init-from, such as {STARTER}); see docs/low-resource.md"
        )
    screen.say(f"done: {result.run}{best}; {command} with")
    screen.say_command(["ptenmt", command, "--run", name, "TEXT"])
    return run_document(Run(result.run))


def _end_by_signal(
    number: int, reason: str, screen: Screen, view: TrainingView, context: typer.Context
) -> NoReturn:
    """Say why the training has ended, and how to resume it."""
    done = {"--fresh": 1, "--init-from": 2} if view.has_saved else {}  # or it would start over
    screen.say(f"{reason}; resume with", style="bold")
    screen.say_command(options.resume_command(context, remove=done))
    raise typer.Exit(128 + signal.Signals(number))


def _dry_run_facts(trial: "DryRun") -> dict[str, str]:
    """Whether the training fits, and how long it takes."""
    sentences, length = trial.largest_batch
    memory = "unknown" if trial.peak_memory is None else amount(trial.peak_memory)
    if trial.peak_device_memory is not None:
        memory += f", and {amount(trial.peak_device_memory)} on the GPU"
    return {
        trial.unit: ", ".join(f"{count:,} {split}" for split, count in trial.examples.items()),
        "parameters": f"{trial.parameters:,}",
        "largest batch": f"{counted(sentences, trial.unit.removesuffix('s'))} of {length:,} tokens",
        "peak memory": memory,
        "steps": f"{trial.steps_per_epoch:,} per epoch, {trial.steps_left:,} left",
        "time left": f"about {duration(trial.seconds)}, without validations",
    }


def distil(
    screen: Screen,
    context: typer.Context,
    teacher: options.Teacher,
    config: options.ConfigName,
    overrides: options.Overrides = None,
    run: options.RunToTrain = None,
    init_from: options.InitFrom = None,
    beam_size: Annotated[int, typer.Option(min=1, metavar="N")] = 4,
    fresh: options.Fresh = False,
    device: options.Device = "cpu",
    threads: options.Threads = None,
) -> None:
    """Train a student on its teacher's translations of the training sources, and compare the two.

    The teacher translates the training pairs of the config. The student is trained on the translations,
    validated and tested on the pairs of the config, and translates by greedy search. At the end, tables
    compare it with its teacher on the validation pairs. After an interruption, the same command resumes.

    Example: ptenmt distil --teacher good --config student.yaml

    Example: ptenmt distil --teacher good --config student.yaml --init-from good

    Args:
        beam_size: Beam width of the teacher.
    """
    settings = load_config(config, overrides or [])
    name = find_config(config).stem if run is None else run
    load_tensorflow(screen)
    from ptenmt.training.distillation import distil as distil_run

    view = TrainingView(screen, settings)
    done = comparison = None
    try:
        with screen.downloads() as show_download, screen.bar("loading") as show, view.showing():
            done = distil_run(
                teacher,
                settings,
                name,
                beam_size=beam_size,
                init_from=init_from,
                fresh=fresh,
                device=device,
                threads=threads,
                on_event=view.show,
                on_download=show_download,
                on_progress=show,
            )
            if done.training.stopped_by is None:
                runs = [Run(done.training.run), done.teacher]
                load = LoadOptions(on_warning=screen.warn)
                comparison = compare(runs, "validation", load=load, on_progress=show)
    except KeyboardInterrupt:  # before or after the training, which handles signals itself
        pass
    if done is None or comparison is None:
        number = None if done is None else done.training.stopped_by
        _end_by_signal(number or signal.SIGINT, "stopped", screen, view, context)
    screen.say(f"distilled pairs: {done.folder}")
    print_comparison(comparison)
