"""How a turn looks: positions as text and pictures, with what led to them, and a window for them."""

from typing import Any, NamedTuple

import numpy as np

from stb_gym.games import Faces, Game, Picture, forbidden, legal_moves, needed, words_of

FORFEIT = "illegal action: the turn ends"


class Position(NamedTuple):
    """A position as the rules have it.

    Attributes:
        held, dice: the state.
        faces: the dice as they fell; empty when nothing is thrown.
        forfeit: whether an illegal action ended the turn; the state is then one of the worst points there are.
    """

    held: int
    dice: int
    faces: Faces
    forfeit: bool = False


class Last(NamedTuple):
    """The move that led to a position: where it was made, and its action."""

    position: Position
    action: int


def draw(game: Game, position: Position, last: Last | None, render_mode: str | None, beside: str = "") -> Any:
    """A position in a render mode, as text ("ansi") or as a picture [H, W, 3]; None without one.

    What is to be told beside it stands before the text, or before the words in the picture. A turn that an illegal
    action ended is drawn as a position of its points, without dice, and marked.
    """
    if render_mode is None:
        return None
    words, (held, dice, faces, forfeit) = words_of(game), position
    if render_mode == "ansi":
        text = words.text(held, dice, faces)
        score = words.score(words.points(held))
        return "\n".join(filter(None, (beside, f"{FORFEIT} with {score}" if forfeit else "", text)))
    before = None if forfeit or last is None else last.position.held
    told = ". ".join(filter(None, (beside, _told(game, position, last))))
    picture = words.picture(held, dice, faces, told, before)
    return forbidden(picture) if forfeit else picture


def _told(game: Game, position: Position, last: Last | None) -> str:
    """What is to be said of a position: the move that led there, and why the turn is over if it is."""
    held, dice, faces, forfeit = position
    if forfeit:
        return FORFEIT
    moved = None if last is None else _move_in_words(game, last, goes_on=dice > 0)
    if dice == 0:
        return f"{moved}: the turn ends" if moved else "the turn ends"
    if not legal_moves(game, held, dice, _roll(game, faces)):
        why = words_of(game).no_move(held, dice, faces)
        return f"{moved}. {why}" if moved else why
    return moved or "first throw"


def _move_in_words(game: Game, last: Last, goes_on: bool) -> str:
    words = words_of(game)
    return words.move_in_words(words.move(last.action, goes_on), _roll(game, last.position.faces))


def _roll(game: Game, faces: Faces) -> Any:
    return game.roll_of(np.array([faces], np.uint8))[0]


class Window:
    """A window that shows pictures, one after another, at a pace at which they can be followed.

    It opens with the first picture. A copy of it is another one, which opens anew.

    Args:
        pictures_per_second: how fast they may follow each other.
        title: what stands above it.
    """

    def __init__(self, pictures_per_second: float, title: str):
        self._pace, self._title = pictures_per_second, title
        self._pygame: Any = None

    def __reduce__(self) -> tuple[Any, ...]:
        """Neither copied nor pickled: what the system knows of a window is its process's own."""
        return Window, (self._pace, self._title)

    def show(self, picture: Picture) -> None:
        """Show a picture [H, W, 3] as soon as the one before was there long enough.

        Raises:
            ImportError: if pygame is not installed, saying how it is.
        """
        size = picture.shape[1], picture.shape[0]
        if self._pygame is None:
            self._pygame = pygame = needed("pygame", "pygame-ce", "windows")
            pygame.display.init()
            pygame.display.set_caption(self._title)
            self._screen, self._clock = pygame.display.set_mode(size), pygame.time.Clock()
        else:
            self._clock.tick(self._pace)
        self._screen.blit(self._pygame.image.frombuffer(picture.tobytes(), size, "RGB"), (0, 0))
        self._pygame.event.pump()
        self._pygame.display.flip()

    def close(self) -> None:
        """Close it, if it is open."""
        if self._pygame is not None:
            self._pygame.display.quit()
            self._pygame = None
