"""``ptenmt distil``."""

import signal
from typing import Annotated, Literal

import typer

from ptenmt.cli import options
from ptenmt.cli.compare import print_comparison
from ptenmt.cli.console import Screen, load_tensorflow
from ptenmt.cli.training_view import TrainingView
from ptenmt.config.loading import find_config, load_config
from ptenmt.evaluation.comparison import RunComparison, compare
from ptenmt.evaluation.systems import LoadOptions
from ptenmt.runs import Run


def distil(
    screen: Screen,
    context: typer.Context,
    teachers: options.Teachers,
    config: options.ConfigName,
    overrides: options.Overrides = None,
    run: options.RunToTrain = None,
    init_from: options.InitFrom = None,
    choose: Annotated[Literal["score", "bleu"], typer.Option()] = "score",
    keep: Annotated[float, typer.Option(metavar="SHARE")] = 0.9,
    beam_size: Annotated[int, typer.Option(min=1, metavar="N")] = 4,
    fresh: options.Fresh = False,
    device: options.Device = "cpu",
    threads: options.Threads = None,
) -> None:
    """Train a student on its teachers' translations of the training sources, and compare it with them.

    The teachers translate the training pairs of the config into n-best lists; several teachers score each
    other's translations, and their scores are averaged. The student is trained on the chosen translations,
    validated and tested on the pairs of the config, and translates by greedy search. At the end, tables
    compare it with its teachers on the validation pairs. After an interruption, the same command resumes.

    Example: ptenmt distil --teacher good --config student.yaml

    Example: ptenmt distil --teacher good --config student.yaml --init-from good

    Example: ptenmt distil --teacher one --teacher two --config student.yaml --choose bleu --keep 0.95

    Args:
        choose: Of the n-best translations take the one with the best score, or the best sentence-BLEU against
            the reference.
        keep: The share of each file's pairs to train on, those with the best scores.
        beam_size: Beam width of the teachers, and the length of n-best lists.
    """
    settings = load_config(config, overrides or [])
    name = find_config(config).stem if run is None else run
    load_tensorflow(screen)
    from ptenmt.recipes.distillation import distil as distil_run

    view = TrainingView(screen, settings)
    done = comparison = None
    try:
        with screen.downloads() as show_download, screen.bar("loading") as show, view.showing():
            done = distil_run(
                teachers,
                settings,
                name,
                choose=choose,
                keep=keep,
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
                runs = [Run(done.training.run), *done.teachers]
                load = LoadOptions(on_warning=screen.warn)
                comparison = compare(runs, "validation", load=load, on_progress=show)
    except KeyboardInterrupt:  # before or after the training, which handles signals itself
        pass
    if done is None or comparison is None:
        screen.say("stopped; resume with", style="bold")
        trained = {"--fresh": 1, "--init-from": 2} if view.has_saved else {}
        screen.say_command(options.resume_command(context, remove=trained))
        number = None if done is None else done.training.stopped_by
        raise typer.Exit(128 + signal.Signals(number or signal.SIGINT))
    screen.say(f"distilled pairs: {done.folder}")
    print_comparison(comparison)
    _warn_of_worse_teachers(comparison, screen)


def _warn_of_worse_teachers(comparison: RunComparison, screen: Screen) -> None:
    for teacher, scores in list(zip(comparison.runs, comparison.scores, strict=True))[1:]:
        bleu = scores.differences[0]
        if bleu.verdict == "worse":
            values = f"{bleu.score.value:.1f} and {bleu.baseline.value:.1f} BLEU"
            screen.warn(f"the teacher {teacher.run} translates worse than its student: {values}")
