"""The nodes of an environment as text and pictures, among them the one that an illegal action leads to."""

from typing import Any

from stb_gym.envs.stepper import Stepper
from stb_gym.games import forbidden, throw_faces, words_of


def draw(stepper: Stepper, node: int, throw: int, render_mode: str | None) -> Any:
    """A node, reached by a throw, in a render mode; None without one.

    A turn that an illegal action ended is drawn as a position of its points, without dice, and marked.
    """
    if render_mode is None:
        return None
    forfeit = node == stepper.forfeit
    held, dice = (int(number) for number in stepper.position(stepper.state_of(node)))
    shown = () if forfeit else throw_faces(throw, dice, stepper.game.faces)
    words = words_of(stepper.game)
    if render_mode == "ansi":
        text = words.text(held, dice, shown)
        points = words.score(int(stepper.final_score.take(node)))
        return f"illegal action: the turn ends with {points}\n{text}" if forfeit else text
    picture = words.picture(held, dice, shown)
    return forbidden(picture) if forfeit else picture
