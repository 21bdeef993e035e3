"""Draw positions as text and pictures, with the move that led there, and show them in a window."""

from typing import Any

from stb_gym.envs.table_stepper import Stepper
from stb_gym.words import Picture, below, needed, words_of

ILLEGAL_ACTION = "illegal action: the turn ends"


class TurnRenderer:
    """Draws the positions of a game.

    Args:
        stepper: the game.
        render_mode: "ansi", "rgb_array" or "human".
        pictures_per_second: the highest pace of a window.
    """

    def __init__(self, stepper: Stepper, render_mode: str, pictures_per_second: int):
        self._stepper = stepper
        self._words = words_of(stepper.game)
        self._is_text = render_mode == "ansi"
        self._window = Window(pictures_per_second, stepper.game.name) if render_mode == "human" else None

    def draw(self, state: int, throw: int, last: tuple[int, int, int] | None, caption: str) -> Any:
        """Draw a state.

        Args:
            state: the state.
            throw: the throw that led there.
            last: the state, the throw and the action before; None at the beginning of a turn.
            caption: a line of its own: above a text, below a picture.

        Returns:
            A text for "ansi", a picture [H, W, 3] for "rgb_array", None for "human", which shows it in a window.
        """
        words, game = self._words, self._stepper.game
        progress, dice, faces = self._stepper.faces_at(state, throw)
        is_illegal = state == self._stepper.illegal_state
        if self._is_text:
            ended = f"{ILLEGAL_ACTION} with {words.score(game.final_score(progress))}" if is_illegal else ""
            return _join("\n", caption, ended, words.text(progress, dice, faces))
        moved = ""
        if last is not None and not is_illegal:
            _, _, faces_before = self._stepper.faces_at(*last[:2])
            moved = game.describe_move(last[2], dice > 0, game.roll_of(faces_before))
        if is_illegal:
            said = ILLEGAL_ACTION
        elif dice == 0:
            said = _join(": ", moved, "the turn ends")
        elif self._stepper.is_over(state):
            said = _join(". ", moved, words.no_move(progress, dice, faces))
        else:
            said = moved or "first throw"
        picture = words.picture(progress, 0 if is_illegal else dice, () if is_illegal else faces, said)
        if caption:
            picture = below(picture, [caption])
        if self._window is None:
            return picture
        self._window.show(picture)
        return None

    def close(self) -> None:
        """Close the window if there is one."""
        if self._window is not None:
            self._window.close()


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
