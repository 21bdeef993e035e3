"""Many turns at once as a Gymnasium vector environment: every step is a few gathers from the tables."""

from collections.abc import Mapping
from typing import Any

import gymnasium as gym
import numpy as np
from gymnasium.vector import AutoresetMode
from gymnasium.vector.utils import batch_space
from numpy.typing import NDArray

from stb_gym.envs.base import TableEnv
from stb_gym.envs.env import draw
from stb_gym.exact import Goal
from stb_gym.games import Game, IntArray, check_choice, check_integer

Step = tuple[NDArray[Any], NDArray[np.float64], NDArray[np.bool_], NDArray[np.bool_], dict[str, Any]]


class TurnVectorEnv(TableEnv, gym.vector.VectorEnv[NDArray[Any], IntArray, NDArray[Any]]):
    """`num_envs` turns of a game at once, as `gym.make_vec` makes them; for the rules and arguments see `TurnEnv`.

    Infos hold arrays over the games, with a mask `_key` for each key, as Gymnasium's own vector environments do:
    `action_mask` [B, A] int8, `final_score` [B] and `illegal_action` [B] (of the games that are over). All three
    autoreset modes of Gymnasium are offered:

    - NEXT_STEP: the step after the end begins a new turn, whatever the action;
    - SAME_STEP: the step that ends a turn begins a new one; its end, with the score, is in `final_obs`, `final_info`.
      `final_obs` [B, O] is what every move led to: of a game that goes on, the observation that the step returns.
      The `action_mask` of `final_info`, all 0, is read-only;
    - DISABLED: finished games are begun anew by `reset(options={"reset_mask": mask})`; until then a step raises.

    Attributes:
        game: the rules object.
        objective: the `Objective`.
        illegal: what an illegal action does, "end" or "raise".
        transitions: the tables the environment steps through.
    """

    def __init__(
        self,
        game: Game | str,
        num_envs: int = 1,
        objective: Goal = "score",
        illegal: str = "end",
        render_mode: str | None = None,
        autoreset_mode: AutoresetMode | str = AutoresetMode.NEXT_STEP,
        *,
        observation_dtype: Any = "uint8",
        reward_scale: float = 1.0,
        **rules: Any,
    ):
        check_integer("num_envs", num_envs, 1, 2**24)
        mode = getattr(autoreset_mode, "value", autoreset_mode)
        check_choice("autoreset mode", mode, [mode.value for mode in AutoresetMode])
        self.autoreset_mode = AutoresetMode(mode)
        self.metadata = {**self.metadata, "autoreset_mode": self.autoreset_mode}
        self.num_envs = num_envs
        self.single_observation_space = self._take(
            game, rules, objective, illegal, render_mode, observation_dtype, reward_scale
        )
        self.single_action_space = gym.spaces.Discrete(self.transitions.actions)
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self.action_space = batch_space(self.single_action_space, num_envs)
        self._first_throws = self.transitions.beginnings({})
        self._throw = np.zeros(num_envs, np.int64)
        self._place = np.empty(num_envs, np.intp)  # scratch: where in a table to look
        self._node: IntArray = np.full(num_envs, self.transitions.tables.nodes)
        self._begun = False
        self._choices: np.random.Generator | None = None

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[NDArray[Any], dict[str, Any]]:
        """Begin all turns, or those of `options["reset_mask"]`, with the first throw or where `options` says.

        Raises:
            ValueError: if `options` names no position of the game, or one without a legal move, or the mask is none.
        """
        super().reset(seed=seed)
        if seed is not None:
            self._choices = None
        where = dict(options or {})
        chosen = where.pop("reset_mask", np.ones(self.num_envs, np.bool_))
        if not isinstance(chosen, np.ndarray) or chosen.dtype != np.bool_ or chosen.shape != (self.num_envs,):
            raise ValueError(f"reset_mask must be an array of {self.num_envs} booleans")
        self._begin(np.flatnonzero(chosen), *(self.transitions.beginnings(where) if where else self._first_throws))
        self._begun = True
        masks = self.transitions.action_mask.take(self._node, axis=0)
        return self.transitions.observation.take(self._node, axis=0), {
            "action_mask": masks,
            "_action_mask": chosen.copy(),
        }

    def step(self, actions: Any) -> Step:
        """Make a move in every game and throw again.

        Raises:
            ValueError: if an action is outside the action space, or is illegal and `illegal` is "raise".
            RuntimeError: before the first reset, or if a game is over and the autoreset mode is DISABLED.
        """
        tables, actions = self.transitions, self._checked(np.asarray(actions))
        np.multiply(self._node, tables.actions, out=self._place)
        state = tables.next_state.take(np.add(self._place, actions, out=self._place))
        if self.illegal == "raise" and (state == tables.tables.states).any():
            game = int((state == tables.tables.states).argmax())
            where = tables.tables.describe_node(int(self._node[game]))
            raise ValueError(f"action {actions[game]} of game {game} is illegal at {where}")
        self._throw = self.np_random.integers(tables.throws, size=self.num_envs)
        # Of the type of an index, so that the gathers below need not convert it one by one.
        np.multiply(state, tables.throws, out=self._place)
        self._node = tables.node_of_throw.take(np.add(self._place, self._throw, out=self._place)).astype(np.intp)
        over, reward = tables.over.take(self._node), tables.reward.take(self._node)
        if self.autoreset_mode != AutoresetMode.SAME_STEP:
            infos = self._scores(self._node, over)
        else:
            (ended,) = over.nonzero()
            infos = self._final_infos(over) if len(ended) else {}
            self._begin(ended, *self._first_throws)
        infos["action_mask"] = tables.action_mask.take(self._node, axis=0)
        infos["_action_mask"] = np.ones(self.num_envs, np.bool_)
        observation = tables.observation.take(self._node, axis=0)
        return observation, reward, over, np.zeros(self.num_envs, np.bool_), infos

    @property
    def nodes(self) -> IntArray:
        """[B] the nodes of the last observations, in the arrays of the game."""
        return self._node.copy()

    def action_masks(self) -> NDArray[np.bool_]:
        """[B, A] True = legal: the masks of the last infos, as sb3-contrib asks for them."""
        return self.transitions.action_mask.take(self._node, axis=0).view(np.bool_)

    def legal_sample(self) -> IntArray:
        """[B] a random action for each game, every legal one with the same probability; 0 where the game is over.

        The choices have random numbers of their own, which `reset(seed=...)` seeds too: they change no throw.

        Raises:
            RuntimeError: before the first reset.
        """
        if not self._begun:
            raise RuntimeError("no game has begun: call reset()")
        if self._choices is None:
            (self._choices,) = self.np_random.spawn(1)
        first, count, action = self.transitions.choices
        chosen = self._choices.random(self.num_envs) * count.take(self._node)
        return action.take(first.take(self._node) + chosen.astype(np.intp))

    def snapshot(self) -> dict[str, Any]:
        """The games as they stand and the dice to come, as arrays and what JSON can hold; see `restore`."""
        random = self.np_random.bit_generator.state
        return {"node": self._node.copy(), "throw": self._throw.copy(), "begun": self._begun, "random": random}

    def restore(self, snapshot: Mapping[str, Any]) -> None:
        """Go on from a snapshot of an environment made alike: the same actions then lead to the same.

        Raises:
            ValueError: if the snapshot is not of as many games, or of other rules.
        """
        node, throw = np.array(snapshot["node"]), np.array(snapshot["throw"])
        for numbers, count in ((node, self.transitions.tables.nodes + 1), (throw, self.transitions.throws)):
            if numbers.shape != (self.num_envs,) or not ((numbers >= 0) & (numbers < count)).all():
                raise ValueError(f"the snapshot is not of {self.num_envs} turns of {self.game}")
        self._node, self._throw, self._begun = node, throw, snapshot["begun"]
        self.np_random.bit_generator.state = snapshot["random"]

    def render(self) -> tuple[Any, ...] | None:
        """The position of every game, as text or as picture."""
        if self.render_mode is None:
            return None
        games = zip(self._node.tolist(), self._throw.tolist(), strict=True)
        return tuple(draw(self.transitions, node, throw, self.render_mode) for node, throw in games)

    def _checked(self, actions: NDArray[Any]) -> NDArray[np.int64]:
        if not self._begun:
            raise RuntimeError("no game has begun: call reset()")
        if actions.shape != (self.num_envs,) or actions.dtype.kind not in "iu":
            raise ValueError(
                f"actions must be {self.num_envs} integers, not shape {actions.shape} of type {actions.dtype}"
            )
        indices = actions.astype(np.int64, copy=False)
        if indices.view(np.uint64).max() >= self.transitions.actions:  # seen so, a negative number is a large one
            wrong = actions[(actions < 0) | (actions >= self.transitions.actions)][0]
            raise ValueError(f"actions must be from 0 to {self.transitions.actions - 1}, not {wrong}")
        if self.autoreset_mode == AutoresetMode.DISABLED and self.transitions.over[self._node].any():
            raise RuntimeError('a game is over: call reset(options={"reset_mask": mask}) on the games that are')
        return indices

    def _begin(self, games: IntArray, state: int, throws: IntArray) -> None:
        """Throw for some games at their first state."""
        throw = throws.take(self.np_random.integers(len(throws), size=len(games)))
        self._throw[games] = throw
        self._node[games] = self.transitions.node_of_throw[state].take(throw)

    def _scores(self, node: IntArray, over: NDArray[np.bool_]) -> dict[str, Any]:
        return {
            "final_score": self.transitions.final_score.take(node),
            "_final_score": over.copy(),
            "illegal_action": node == self.transitions.tables.nodes,
            "_illegal_action": over.copy(),
        }

    def _final_infos(self, over: NDArray[np.bool_]) -> dict[str, Any]:
        """How the games ended that are over, before they begin anew."""
        # One zero, to be read in every place: new rows of zeros in each step could take longer than all the rest.
        none_legal = np.ndarray((self.num_envs, self.transitions.actions), np.int8, b"\0", strides=(0, 0))
        final_info = {**self._scores(self._node, over), "action_mask": none_legal, "_action_mask": over.copy()}
        final_obs = self.transitions.observation.take(self._node, axis=0)
        return {"final_obs": final_obs, "_final_obs": over.copy(), "final_info": final_info, "_final_info": over.copy()}
