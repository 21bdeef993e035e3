"""A turn with given dice: what a policy does, what each throw gains and what each move loses."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from stb_gym.games import Game, words_of
from stb_gym.solver import Goal, Policy, solve
from stb_gym.terminal.coach import coach_alone
from stb_gym.terminal.players import chooser
from stb_gym.terminal.turns import Throw, move_in_words, step_in_words, stopped, take_turn


def replay(game: Game, policy: str | Policy, rolls: Sequence[Throw], objective: Goal = "score") -> dict[str, list[Any]]:
    """Play a turn with given dice.

    Args:
        game: the rules.
        policy: the name of a strategy, or a policy [N]; one that plays at random draws with seed 0.
        rolls: every throw of the turn: the sum of its dice where only the sum matters, or their faces.
        objective: what the turn is played for, see `stb_gym.solve`.

    Returns:
        Columns with a row per throw: "roll", "plays" and "leaves" in words; "best", the optimal moves; "loss" of the
        move; "luck", the value after the throw less the value before it, as a utility (more is better for the player);
        "value" after the move in the objective's unit.

    Raises:
        ValueError: if a roll is impossible, if the turn needs more of them or fewer, or if the policy does not fit.

    Example:
        >>> import stb_gym
        >>> turn = stb_gym.replay(stb_gym.ShutTheBox(), "optimal", [8, 10, 6, 11, 3, 7])
        >>> turn["plays"]
        ['shut 8', 'shut 1,9', 'shut 6', 'shut 4,7', 'shut 3', 'shut 2,5']
    """
    coach, words = coach_alone(solve(game, objective)), words_of(game)
    steps, _ = take_turn(game, iter(rolls), chooser(coach, policy, np.random.default_rng(0)))
    if not steps or stopped(steps):
        throws, left = "1 throw is" if len(rolls) == 1 else f"{len(rolls)} throws are", game.start()
        if steps and (last := steps[-1].move):
            left = last.held, last.dice
        raise ValueError(f"the turn goes on at {words.state(*left)}, and only {throws} given")
    if len(steps) < len(rolls):
        raise ValueError(f"the turn ends after throw {len(steps)}, and {len(rolls)} throws are given")
    before, rows = coach.start, []
    for step in steps:
        (position, move), choice = step, coach.choice(step.position)
        _, plays, leaves = step_in_words(game, step)
        after, loss = choice.utility, 0.0
        if move is not None:
            chosen = choice.moves.index(move)
            after, loss = choice.after[chosen], choice.loss[chosen]
        rows.append(
            {
                "roll": words.roll(position.roll),
                "plays": plays,
                "leaves": leaves,
                "best": " or ".join(move_in_words(game, position, best) for best in choice.best) or plays,
                "loss": loss,
                "luck": choice.utility - before,
                "value": coach.known.objective.sign * after + 0.0,
            }
        )
        before = after
    return {name: [row[name] for row in rows] for name in rows[0]}
