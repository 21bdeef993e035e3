"""Games in words and pictures, for people and language models. The core does not need it.

- `words`: the words of any game; `shut_the_box`, `threes`: those of the two games.
- `drawing`: pictures of positions.
"""

from stb_gym.games import Game, ShutTheBox, Threes, check_rules
from stb_gym.words.drawing import Picture, below, drawn_dice, needed
from stb_gym.words.shut_the_box import BoxWords
from stb_gym.words.threes import ThreesWords
from stb_gym.words.words import Words

__all__ = ["WORDS", "BoxWords", "Picture", "ThreesWords", "Words", "below", "drawn_dice", "needed", "words_of"]

WORDS: dict[type[Game], type[Words]] = {ShutTheBox: BoxWords, Threes: ThreesWords}


def words_of(game: Game) -> Words:
    """Return the words of a game: those it was registered with, or else the plain ones.

    Args:
        game: the rules.

    Example:
        >>> import stb_gym
        >>> from stb_gym.words import words_of
        >>> words_of(stb_gym.ShutTheBox()).goal(5)
        'at most 5 points'
    """
    check_rules(game)
    return WORDS.get(type(game), Words)(game)
