"""What the environment of one turn and that of many have in common: their arguments, tables and spec."""

import inspect
import math
from collections.abc import Mapping
from dataclasses import fields, replace
from typing import Any

import gymnasium as gym
import numpy as np
from gymnasium.envs.registration import EnvSpec
from numpy.typing import NDArray

from stb_gym.envs.transitions import Transitions, transitions
from stb_gym.exact import Goal, Objective, node_of, objective_of
from stb_gym.games import ILLEGAL, Game, IntArray, check_choice, game_of, rules_class_of

RENDER_MODES = ["ansi", "rgb_array"]


class TableEnv:
    """An environment that steps through the tables of a game.

    Attributes:
        game: the rules object.
        objective: the `Objective`.
        illegal: what an illegal action does: it ends the turn ("end"), or raises ("raise").
        transitions: the tables the environment steps through.
    """

    metadata: dict[str, Any] = {"render_modes": RENDER_MODES, "render_fps": 2}  # noqa: RUF012
    game: Game
    objective: Objective
    illegal: str
    render_mode: str | None
    transitions: Transitions
    max_episode_steps: int | None = None
    _spec: EnvSpec | None = None

    def _take(
        self,
        game: Game | str,
        rules: Mapping[str, Any],
        objective: Goal,
        illegal: str,
        render_mode: str | None,
        observation_dtype: Any,
        reward_scale: float,
    ) -> gym.spaces.Box:
        """Take over the arguments of an environment, and tell the space of its observations."""
        check_choice("treatment of illegal actions", illegal, ILLEGAL)
        check_choice("render mode", render_mode, [None, *RENDER_MODES])
        self.game = self._game_of(game, rules)
        self.objective = objective_of(self.game, objective)
        self.illegal, self.render_mode = illegal, render_mode
        high = self.game.observation_high
        dtype = _dtype_for(int(high.max()), observation_dtype)
        self.transitions = transitions(self.game, self.objective, dtype, _checked_scale(reward_scale))
        return gym.spaces.Box(0, high, dtype=self.transitions.observation.dtype.type)

    def _game_of(self, game: Game | str, rules: Mapping[str, Any]) -> Game:
        """The rules; a TypeError like Python's own for a keyword that is none, on which libraries drop theirs."""
        known = [field.name for field in fields(rules_class_of(game))]  # type: ignore[arg-type]
        for name in rules:
            if name not in known:
                own = [name for name in inspect.signature(type(self)).parameters if name not in ("game", "rules")]
                raise TypeError(
                    f"{type(self).__name__}() got an unexpected keyword argument {name!r}: allowed are the rules "
                    f"{', '.join(known)} and the arguments {', '.join(own)}"
                )
        return game_of(game, rules)

    @property
    def spec(self) -> EnvSpec | None:
        """What the environment was made of, as Gymnasium says it."""
        return self._spec

    @spec.setter
    def spec(self, spec: EnvSpec | None) -> None:
        # Turns are bounded without a limit. What is made of this spec gets one nevertheless, which truncates a turn at
        # its last step: one step more than the longest turn has lets it end as it does here, terminated alone.
        if spec is not None and spec.max_episode_steps is None:
            spec = replace(spec, max_episode_steps=self.max_episode_steps or self.transitions.longest + 1)
        self._spec = spec

    def _read(self, snapshot: Mapping[str, Any], shape: tuple[int, ...], **counts: int) -> list[IntArray]:
        """Numbers of a snapshot by name, each of this shape and less than its count; of others a ValueError."""
        read = [np.array(snapshot.get(name, -1)) for name in counts]
        for numbers, count in zip(read, counts.values(), strict=True):
            fits = numbers.shape == shape and numbers.dtype.kind in "iu"
            if not fits or not ((numbers >= 0) & (numbers < count)).all():
                raise ValueError(
                    f"the snapshot is not of {f'{shape[0]} turns' if shape else 'one turn'} of {self.game}"
                )
        return read

    def node(self, observation: NDArray[Any]) -> Any:
        """The node of an observation [O], or the nodes [B] of a batch [B, O], in the arrays of the game."""
        return node_of(self.transitions.tables, np.asarray(observation))


def _dtype_for(high: int, named: Any) -> str:
    """The name of the type of observations, if it can hold the integers from 0 to `high`."""
    try:
        dtype: np.dtype[Any] = np.dtype(np.void if named is None else named)
    except TypeError:
        dtype = np.dtype(np.void)
    if dtype.kind == "f" or (dtype.kind in "iu" and np.iinfo(dtype).max >= high):
        return dtype.name
    raise ValueError(
        f'observation_dtype must be a type of integers or floats that holds 0 to {high}, such as "uint8" or "float32", '
        f"not {named!r}"
    )


def _checked_scale(scale: Any) -> float:
    if isinstance(scale, int | float | np.integer | np.floating) and 0 < scale < math.inf and scale is not True:
        return float(scale)
    raise ValueError(f"reward_scale must be a finite number above 0, not {scale!r}")
