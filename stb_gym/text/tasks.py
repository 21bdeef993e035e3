"""Draw variants of the games in words, each with its difficulty, computed from perfect play."""

import random
from dataclasses import dataclass

import numpy as np

from stb_gym.arguments import checked
from stb_gym.checks import check_integer
from stb_gym.games import Game, ShutTheBox, Threes, entry_of
from stb_gym.solver import Playable, Solution, UniformRandom, objective_of, pair_weights, solve_tables, table_strategy
from stb_gym.text.game import TextGame
from stb_gym.text.grading import asked_states
from stb_gym.text.wording import WORDINGS

FEWEST_QUESTIONS = 20
NEVER = 1e-12  # how often moves are drawn that perfect play never makes
LEAST_MISSED = 0.05  # tasks that a heuristic solves better than this are not drawn


@dataclass(frozen=True)
class TextTask:
    """A variant of a game in words, with numbers that predict how hard it is.

    Shares are of the choices that perfect play meets, without forced moves.

    Attributes:
        text: the game, its objective, its wording and its names.
        difficulty: the share of choices where a player of habit errs, who draws legal moves as often as perfect play
            makes them, whatever the position.
        missed: the share of choices where the best of random play and the heuristics errs; at least 5 %.
        mean_loss: the mean loss of a random legal move, as a share of the loss of an answer that names no move.
        choices: the effective number of choices, the exponential of the entropy of their shares.
    """

    text: TextGame
    difficulty: float
    missed: float
    mean_loss: float
    choices: float


@checked
def draw_task(seed: int) -> TextTask:
    """Draw a variant of Shut the Box or Threes, solve it, and compute its difficulty.

    The seed draws the dice and their faces, the tiles and which of them are open, which tiles a roll may shut, what
    counts, the objective, the wording, and the names of tiles or faces.

    Args:
        seed: 0 to 2**63 - 1; the same seed draws the same task.

    Returns:
        The task. It has at least 20 questions, and its heuristics err in at least 5 % of the choices.

    Raises:
        ValueError: if the seed is out of range.

    Example:
        >>> from stb_gym.text import draw_task
        >>> task = draw_task(0)
        >>> round(task.difficulty, 3), round(task.missed, 3)
        (0.223, 0.118)
    """
    check_integer("seed", seed, 0, 2**63 - 1)
    draw = random.Random(int(seed))
    while True:
        game, objective = _draw_rules(draw)
        best = solve_tables(game, objective_of(game, objective))
        if asked_states(best.tables).sum() >= FEWEST_QUESTIONS:
            difficulty, missed, mean_loss, choices = _difficulty(best)
            if missed >= LEAST_MISSED:
                wording = draw.choice([*WORDINGS])
                text = TextGame(game, objective, seed=draw.randrange(2**31), wording=wording)
                return TextTask(text, difficulty, missed, mean_loss, choices)


def _draw_rules(draw: random.Random) -> tuple[Game, str]:
    """Draw the rules of a game, and an objective."""
    objective = draw.choice(["score", "score", "shut", f"at-most:{draw.randint(1, 6)}"])
    if draw.random() < 0.25:
        faces = draw.randint(4, 8)
        return Threes(dice=draw.randint(3, 5), faces=faces, free_face=draw.randint(0, faces)), objective
    tiles, dice, faces = draw.randint(7, 10), draw.randint(1, 3), draw.randint(4, 8)
    game = ShutTheBox(
        tiles=tiles,
        dice=dice,
        faces=faces,
        score=draw.choice(["sum", "count"]),
        open=tuple(sorted(draw.sample(range(1, tiles + 1), draw.randint(6, tiles)))),
        match=draw.choice(["sum", "sum", "two-at-most", "faces-or-sum"]),
        ending_roll=draw.choice([None, None, draw.randint(dice, dice * faces)]),
    )
    return game, objective


def _difficulty(best: Solution) -> tuple[float, float, float, float]:
    """Return the numbers of `TextTask`."""
    tables = best.tables
    visits = best.evaluate(best.policy).visits * asked_states(tables)
    visits = visits / visits.sum()
    players: list[Playable] = [
        UniformRandom(),
        *(table_strategy(best.game, name) for name in entry_of(best.game).heuristics),
    ]
    habits = np.bincount(best.policy[tables.decisions], visits[tables.decisions], tables.num_actions)
    habit = habits[tables.pair_action] + NEVER
    habit /= tables.at_pairs(tables.sum_at_states(habit))
    difficulty = visits @ tables.sum_at_states(habit * ~best.optimal)
    errors = [visits @ tables.sum_at_states(pair_weights(tables, each)[0] * ~best.optimal) for each in players]
    lost = visits @ tables.sum_at_states(tables.uniform * -best.advantage)
    worst = visits @ (best.state_utilities - best.objective.illegal_utility(tables.final_score))
    shares = visits[visits > 0]
    choices = np.exp(-shares @ np.log(shares))
    return float(difficulty), float(min(errors)), float(lost / worst) if worst > 0 else 0.0, float(choices)
