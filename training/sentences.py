"""What comes out of runs in sentences: the opening of a report, and what its pictures show for who cannot see them."""

from collections.abc import Mapping, Sequence

from stb_gym.games import Game, entry_of, words_of
from stb_gym.solver import TIE, Measured, Objective
from training.plots import ends_worse
from training.run import Point


def task_in_words(game: Game, objective: Objective) -> str:
    """How a game is played, and what a player wants, such as the fewest points or the best chance to shut."""
    words = words_of(game)
    wanted = f"best {objective.name}"
    if objective.name == "score":
        wanted = f"{'most' if game.more_is_better else 'fewest'} points"
    elif objective.target is not None:
        perfect = objective.target == game.perfect_score
        wanted = f"best {words.perfection if perfect else f'chance of {words.goal(objective.target)}'}"
    return f"{' '.join(words.how_to_play().splitlines())} A player wants the {wanted}."


def value_in_words(value: float, unit: str) -> str:
    """What a turn is worth, as "11.158 points", or "7.09%" of a chance."""
    return f"{value:.2%}" if unit == "probability" else f"{value:.3f} {unit}"


def loss_in_words(loss: float, unit: str) -> str:
    """What is lost, as "0.0546 points", or "1.2 percentage points" of a chance."""
    return f"{100 * loss:.3g} percentage points" if unit == "probability" else f"{loss:.3g} {unit}"


def opening(evaluations: Mapping[str, Measured], agents: Sequence[str]) -> str:
    """How close agents come to perfect play.

    Args:
        evaluations: those of `training.compare.compare`, by name.
        agents: the names of the agents among them.
    """
    optimum, random = evaluations["optimum"], evaluations["random"]
    unit, thumbs = optimum.optimum.objective.unit, entry_of(optimum.optimum.game).heuristics
    first, *others = sorted(agents, key=lambda name: evaluations[name].regret)
    said = [
        f"Perfect play comes to {value_in_words(optimum.value, unit)} a turn, random moves to "
        f"{value_in_words(random.value, unit)}.",
        _how_close(f"Of the agents {first} comes closest: it" if others else first, evaluations[first]),
        *(_how_close(name, evaluations[name]) for name in others),
    ]
    if known := [name for name in thumbs if name in evaluations]:
        best = min(known, key=lambda name: evaluations[name].regret)
        said.append(_how_close(f"The best rule of thumb, {best},", evaluations[best]))
    return " ".join(said)


def _how_close(who: str, evaluation: Measured) -> str:
    loss = loss_in_words(evaluation.regret, evaluation.optimum.objective.unit)
    return f"{who} loses {loss}, a normalised score of {evaluation.normalised_score:.2%}."


def learning_in_words(curves: Mapping[str, Sequence[Point]], unit: str) -> str:
    """What the picture of the regret against steps shows: where each line begins and ends."""
    lines = [
        f"{name} goes from {loss_in_words(points[0].regret, unit)} to {loss_in_words(points[-1].regret, unit)} "
        f"after {points[-1].steps:,} steps"
        for name, points in curves.items()
    ]
    return f"Regret against steps: {'; '.join(lines)}."


def scores_in_words(optimum: Measured, others: Mapping[str, Measured]) -> str:
    """What the picture of the final scores shows: where each of the others falls behind perfect play most."""
    game = optimum.optimum.game
    words, chance = words_of(game), value_in_words(optimum.shut_probability, "probability")
    told = [f"Final scores: with perfect play the {words.perfection} is {chance}"]
    for name, evaluation in others.items():
        scores, difference, _ = ends_worse(evaluation, optimum)
        most = int(difference.argmax())
        by = loss_in_words(float(difference[most]), "probability")
        worse = f"{'fewer' if game.sign > 0 else 'more'} than {words.score(int(scores[most]))}"
        told.append(f"{name} is {by} likelier to end with {worse}" if difference[most] > TIE else f"{name} is no worse")
    return f"{'; '.join(told)}."
