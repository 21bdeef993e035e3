"""Draw positions as text and pictures, with the move that led there, and show them in a window."""

from typing import Any

import gymnasium as gym

from stb_gym.envs.table_stepper import Stepper
from stb_gym.games import throw_faces
from stb_gym.words import Picture, needed, words_of

FORFEIT = "illegal action: the turn ends"


def draw_nothing() -> None:
    """Warn that an environment without a render mode draws nothing."""
    gym.logger.warn('render() draws nothing: make the environment with render_mode="ansi", "rgb_array" or "human"')


def draw(
    stepper: Stepper, state: int, throw: int, last: tuple[int, int, int] | None, render_mode: str | None, beside: str
) -> Any:
    """Draw a position.

    Args:
        stepper: the game.
        state: the state to draw.
        throw: the throw that led there.
        last: the state and the throw before, and the action; None at the beginning of a turn.
        render_mode: "ansi", "rgb_array", "human" or None.
        beside: words that come first.

    Returns:
        A text for "ansi", None without a render mode, else a picture [H, W, 3].
    """
    if render_mode is None:
        draw_nothing()
        return None
    words = words_of(stepper.game)
    progress, dice, faces = _position(stepper, state, throw)
    illegal_state = state == stepper.illegal_state
    if render_mode == "ansi":
        score = words.score(stepper.game.final_score(progress))
        return _join(
            "\n", beside, f"{FORFEIT} with {score}" if illegal_state else "", words.text(progress, dice, faces)
        )
    if illegal_state:
        return words.picture(progress, dice, (), _join(". ", beside, FORFEIT))
    moved = ""
    if last is not None:
        _, _, faces_before = _position(stepper, *last[:2])
        moved = stepper.game.describe_move(last[2], dice > 0, stepper.game.roll_of(faces_before))
    if dice == 0:
        caption = _join(": ", moved, "the turn ends")
    elif stepper.ending(state) == 0:
        caption = moved or "first throw"
    else:
        caption = _join(". ", moved, words.no_move(progress, dice, faces))
    return words.picture(progress, dice, faces, _join(". ", beside, caption))


def _position(stepper: Stepper, state: int, throw: int) -> tuple[int, int, tuple[int, ...]]:
    """Return `progress`, the number of dice, and their faces at a state."""
    progress, dice = (int(number) for number in stepper.position(stepper.origin_of(state)))
    return progress, dice, throw_faces(throw, dice, stepper.game.faces)


def _join(separator: str, *parts: str) -> str:
    return separator.join(filter(None, parts))


class Window:
    """A window that shows one picture after another. It opens with the first picture.

    Args:
        pictures_per_second: the highest pace.
        title: the title of the window.
    """

    def __init__(self, pictures_per_second: float, title: str):
        self._pace = pictures_per_second
        self._title = title
        self._pygame: Any = None

    def __reduce__(self) -> tuple[Any, ...]:
        """Return a window that is not open yet: an open one belongs to its process."""
        return Window, (self._pace, self._title)

    def show(self, picture: Picture) -> None:
        """Show a picture [H, W, 3] once the one before was shown long enough.

        Raises:
            ImportError: if pygame is not installed, with the command that installs it.
        """
        size = picture.shape[1], picture.shape[0]
        if self._pygame is None:
            self._pygame = needed("pygame", "pygame-ce", "windows")
            self._pygame.display.init()
            self._pygame.display.set_caption(self._title)
            self._screen = self._pygame.display.set_mode(size)
            self._clock = self._pygame.time.Clock()
        else:
            self._clock.tick(self._pace)
        self._screen.blit(self._pygame.image.frombuffer(picture.tobytes(), size, "RGB"), (0, 0))
        self._pygame.event.pump()
        self._pygame.display.flip()

    def close(self) -> None:
        """Close the window if it is open."""
        if self._pygame is not None:
            self._pygame.display.quit()
            self._pygame = None
