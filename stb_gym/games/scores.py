"""The final scores of a game."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from stb_gym.arrays import INTEGER
from stb_gym.games.afterstates import walk
from stb_gym.games.contract import SAMPLE, cached_by_rules, check_answers
from stb_gym.games.game import LARGEST_SCORE, Game
from stb_gym.games.shut_the_box import ShutTheBox
from stb_gym.games.threes import Threes
from stb_gym.messages import quoted


def final_scores(game: Game, progress: Sequence[int], thorough: bool = False) -> NDArray[np.int64]:
    """Return [N] the points of turns that end with each progress [N].

    Args:
        game: the rules.
        progress: [N] what the player has.
        thorough: ask for all points twice, not for a sample.

    Raises:
        ValueError: if they are not integers, or change when they are asked for again.
    """
    scores = []
    for each in progress:
        score = game.final_score(each)
        if isinstance(score, bool) or not isinstance(score, INTEGER) or abs(score) > LARGEST_SCORE:
            rules = type(game).__name__
            raise ValueError(
                f"final_score of {rules} must return an integer up to 2**62, not {quoted(score)} for {each}"
            )
        scores.append(score)
    answers = zip(zip(progress, strict=True), scores, strict=True)
    check_answers(game, "final_score", game.final_score, answers, 1 if thorough else 1 + len(scores) // SAMPLE)
    return np.array(scores, np.int64)


@cached_by_rules(32)
def perfect_score(game: Game) -> int:
    """Return the target of the objective "shut": 0 in Shut the Box and Threes, else the best score of a turn."""
    if type(game).final_score in (ShutTheBox.final_score, Threes.final_score) and not game.more_is_better:
        return 0
    ends = [progress for (progress, _), moves in walk(game).items() if not all(moves)]
    scores = final_scores(game, ends)
    return int(scores.max() if game.more_is_better else scores.min())
