"""The meter, with agents that have their answers ready: what a measurement takes beyond the agent's own work."""

from collections.abc import Iterator

from benchmarks.timing import Comparison, Timer, timer
from stb_gym import Game, RegretMeter, ShutTheBox, Threes
from stb_gym.solver import Policy, table_strategy


def measuring() -> Iterator[Comparison]:
    """A call of the meter and all its numbers; of an agent that answers with actions, and one with probabilities."""
    for game, most_seconds in ((ShutTheBox(), 5e-3), (ShutTheBox(tiles=12), None), (Threes(), None)):
        for form, name in (("actions", "optimal"), ("probabilities", "random")):
            ours = _measuring(game, table_strategy(game, name))
            yield Comparison(f"measure {form}, {game}", "ms", ours, most_seconds=most_seconds)


def _measuring(game: Game, policy: Policy) -> Timer:
    meter = RegretMeter(game)
    answers = policy[meter.solution.tables.decisions]
    return timer(lambda _: meter(lambda observations, masks: answers).summary())
