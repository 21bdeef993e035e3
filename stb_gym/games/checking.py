"""Check every answer of a game, and that the game gives each of them again."""

from itertools import product
from typing import Any

from stb_gym.games.afterstates import check_moves, starting_points, walk
from stb_gym.games.contract import cached_by_rules, check_answers
from stb_gym.games.observations import observations
from stb_gym.games.positions import locate
from stb_gym.games.scores import final_scores
from stb_gym.games.throws import check_order, rolls
from stb_gym.messages import quoted


@cached_by_rules(32)  # a round checks its game every time that it is made
def check_game(game: Any) -> None:
    """Check that rules keep the contract of `Game` in each of their afterstates.

    Tables check most of this when they are made, whether a game is registered or not. This function also tries every
    order of the dice, asks for every answer twice instead of a sample, and looks at observations and words.

    Args:
        game: the rules; small ones are checked faster.

    Raises:
        TypeError: if it is not a `Game`.
        ValueError: naming the method and the first fault: a wrong type, fields that can change, a roll that depends on
            the order of the dice, an afterstate or an action that does not exist, a first throw without a move, moves
            that lead back to an afterstate, a score that is not an integer, observations that are out of range or the
            same in two states, or an answer that changes when it is asked for again.

    Example:
        >>> import stb_gym
        >>> stb_gym.games.check_game(stb_gym.ShutTheBox(tiles=4))
    """
    found = walk(game)
    for dice in {dice for _, dice in found}:
        shown, _, of_throw = rolls(game, dice)
        throws = product(range(1, game.faces + 1), repeat=dice)
        for throw, roll in zip(throws, of_throw.tolist(), strict=True):
            check_order(game, throw, shown[roll])
    check_answers(game, "start", game.start, [((), game.start())])
    check_answers(game, "positions", lambda: starting_points(game), [((), starting_points(game))])
    check_moves(game, found, thorough=True)
    final_scores(game, [progress for progress, _ in found], thorough=True)
    observations(game, found, thorough=True)
    start = game.start()
    options = game.options_at(*start)
    if locate(game, options) != (*start, None):
        raise ValueError(
            f"options_at and find_progress of {type(game).__name__} must agree: {quoted(options)} is not {start}"
        )
