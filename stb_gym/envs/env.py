"""One turn as a Gymnasium environment."""

from typing import Any

import gymnasium as gym
import numpy as np
from numpy.typing import NDArray

from stb_gym.envs.base import TableEnv
from stb_gym.envs.transitions import Transitions
from stb_gym.exact import Goal
from stb_gym.games import Game, throw_faces, words_of

Observation = NDArray[Any]
THROWS_AT_ONCE = 1024


class TurnEnv(TableEnv, gym.Env[Observation, np.int64]):
    """One turn of a game, as `gym.make` makes it.

    The rules, spaces, rewards and infos of each game are on its own page, the docstring of
    `stb_gym.games.shut_the_box.environment` and of `stb_gym.games.threes.environment`.

    Args:
        game: the name of a game, or a rules object.
        objective: what is rewarded at the end: see `stb_gym.solve`; "score", an `Objective`, or a function from final
            scores [S] to utilities [S].
        illegal: an illegal action ends the turn with the worst score and reward there is ("end"), or raises ("raise").
        render_mode: "ansi" for text, "rgb_array" for a picture, or None.
        observation_dtype: the type of observations, as NumPy names it: integers or floats that can hold them. Networks
            that take an observation as it is want "float32".
        reward_scale: the reward at the end is the utility times this, a finite number above 0. Learners that take
            rewards as they are learn better with some near 1: 1 / 45 for the points of nine tiles.
        **rules: fields of the rules that differ from the standard ones.

    Attributes:
        game: the rules object.
        objective: the `Objective`.
        illegal: what an illegal action does, "end" or "raise".
        transitions: the tables the environment steps through.

    Raises:
        ValueError: if an argument is not allowed, or the game is too large, saying what is allowed.
        TypeError: if a keyword is neither an argument nor a field of the rules, naming those that are.

    Example:
        >>> import gymnasium as gym, stb_gym
        >>> env = gym.make("stb_gym/ShutTheBox-v0", tiles=6)
        >>> observation, info = env.reset(seed=0)
        >>> observation.shape, int(info["action_mask"].sum())
        ((17,), 3)
    """

    def __init__(
        self,
        game: Game | str,
        objective: Goal = "score",
        illegal: str = "end",
        render_mode: str | None = None,
        *,
        observation_dtype: Any = "uint8",
        reward_scale: float = 1.0,
        **rules: Any,
    ):
        self.observation_space = self._take(
            game, rules, objective, illegal, render_mode, observation_dtype, reward_scale
        )
        self.action_space = gym.spaces.Discrete(self.transitions.actions)
        self._raises = illegal == "raise"
        self._node = self.transitions.tables.nodes
        self._over = True
        self._throw = 0
        self._throws: list[int] = []

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observation, dict[str, Any]]:
        """Begin a turn with the first throw, or where `options` says.

        Raises:
            ValueError: if `options` names no position of the game, or one without a legal move.
        """
        if seed is not None:
            super().reset(seed=seed)
            self._throws = []
        tables = self.transitions
        if options:
            state, throws = tables.beginnings(options)
            throw = int(self.np_random.choice(throws))
        else:
            state, throw = tables.tables.start, (self._throws or self._throw_ahead()).pop()
        _, node_of_throw, nodes, _ = tables.single
        self._throw, self._over = throw, False
        self._node = node = node_of_throw[state * tables.throws + throw]
        observation, action_mask, _ = nodes[node]
        return observation(), {"action_mask": action_mask()}

    def step(self, action: Any) -> tuple[Observation, float, bool, bool, dict[str, Any]]:
        """Make a move and throw again.

        Raises:
            ValueError: if the action is outside the action space, or is illegal and `illegal` is "raise".
            TypeError: if the action is no integer.
            RuntimeError: if the turn is over.
        """
        if self._over:
            raise RuntimeError("the turn is over: call reset()")
        first_throw, node_of_throw, nodes, actions = self.transitions.single
        # Any integer type will do; what is none fails here or as an index, with a TypeError.
        if not 0 <= action < actions:
            raise ValueError(f"action must be from 0 to {actions - 1}, not {action}")
        throw = (self._throws or self._throw_ahead()).pop()
        node = node_of_throw[first_throw[self._node, action] + throw]
        observation, action_mask, end = nodes[node]
        if end is None:
            self._node, self._throw = node, throw
            return observation(), 0.0, False, False, {"action_mask": action_mask()}
        reward, final_score, illegal = end
        if illegal and self._raises:
            self._throws.append(throw)
            raise ValueError(f"action {action} is illegal at {self.transitions.tables.describe_node(self._node)}")
        self._node, self._throw, self._over = node, throw, True
        info = {"action_mask": action_mask(), "final_score": final_score, "illegal_action": illegal}
        return observation(), reward, True, False, info

    def action_masks(self) -> NDArray[np.bool_]:
        """[A] True = legal: the mask of the last info, as sb3-contrib asks for it."""
        return self.transitions.action_mask[self._node].astype(np.bool_)

    def render(self) -> Any:
        """The position as text ("ansi") or as a picture [H, W, 3] uint8 ("rgb_array")."""
        return draw(self.transitions, self._node, self._throw, self.render_mode)

    def _throw_ahead(self) -> list[int]:
        """Draw many throws at once, since one by one is slow."""
        self._throws = self.np_random.integers(self.transitions.throws, size=THROWS_AT_ONCE).tolist()
        return self._throws


def draw(transitions: Transitions, node: int, throw: int, render_mode: str | None) -> Any:
    """A node, reached by a throw, in a render mode; None without one. A forfeit is drawn as the start, without dice."""
    tables = transitions.tables
    if render_mode is None:
        return None
    forfeit = node == tables.nodes
    state = tables.start if forfeit else tables.node_state[node]
    held, dice = int(tables.held[state]), int(tables.dice[state])
    shown = () if forfeit else throw_faces(throw, dice, tables.game.faces)
    words = words_of(tables.game)
    return (words.text if render_mode == "ansi" else words.picture)(held, dice, shown)
