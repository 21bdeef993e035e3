"""Many turns at once as a Gymnasium vector environment: every step is a few operations on arrays."""

from collections.abc import Mapping, Sequence
from typing import Any

import gymnasium as gym
import numpy as np
from gymnasium.vector import AutoresetMode
from gymnasium.vector.utils import batch_space
from numpy.typing import NDArray

from stb_gym.envs.asked import checked_actions, chosen_games, for_all, of_each, seeded
from stb_gym.envs.base import StepperEnv
from stb_gym.envs.infos import endings, final_infos
from stb_gym.games import Game, IntArray, check_choice, check_integer
from stb_gym.solver import Goal

Step = tuple[NDArray[Any], NDArray[np.float64], NDArray[np.bool_], NDArray[np.bool_], dict[str, Any]]


class TurnVectorEnv(StepperEnv, gym.vector.VectorEnv[NDArray[Any], IntArray, NDArray[Any]]):
    """`num_envs` turns of a game at once, as `gym.make_vec` makes them; for the rules and arguments see `TurnEnv`.

    Infos hold arrays over the games, with a mask `_key` for each key, as Gymnasium's own vector environments do:
    `action_mask` [B, A] int8, and in steps that end a game `final_score` [B] and `illegal_action` [B]. All three
    autoreset modes of Gymnasium are offered:

    - NEXT_STEP: the step after the end begins a new turn, whatever the action;
    - SAME_STEP: the step that ends a turn begins a new one; its end, with the score, is in `final_obs`, `final_info`.
      `final_obs` [B, O] is what every move led to: of a game that goes on, the observation that the step returns.
      Where no turn was truncated, the `action_mask` of `final_info`, all 0, is read-only;
    - DISABLED: finished games are begun anew by `reset(options={"reset_mask": mask})`; until then a step raises. That
      reset tells the masks of the games that go on, too.

    `max_episode_steps` truncates turns as `gymnasium.wrappers.TimeLimit` does.

    Attributes:
        game: the rules object.
        objective: the `Objective`.
        illegal: what an illegal action does, "end" or "raise".
        stepper: what the environment steps through, a `Stepper`.
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
        stepper: str | None = None,
        max_episode_steps: int | None = None,
        **rules: Any,
    ):
        check_integer("num_envs", num_envs, 1, 2**24)
        if max_episode_steps is not None:
            check_integer("max_episode_steps", max_episode_steps, 1, 2**31)
        mode = getattr(autoreset_mode, "value", autoreset_mode)
        check_choice("autoreset mode", mode, [mode.value for mode in AutoresetMode])
        check_choice("render mode", render_mode, [None, "ansi", "rgb_array"])  # many games have no window
        self.autoreset_mode = AutoresetMode(mode)
        self.metadata = {**self.metadata, "autoreset_mode": self.autoreset_mode}
        self.num_envs, self.max_episode_steps = num_envs, max_episode_steps
        self.single_observation_space = self._take(
            game, rules, objective, illegal, render_mode, observation_dtype, reward_scale, stepper
        )
        self.single_action_space = gym.spaces.Discrete(self.stepper.actions)
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self.action_space = batch_space(self.single_action_space, num_envs)
        self._first_throws = self.stepper.beginnings({})
        self._throw: IntArray = np.zeros(num_envs, np.int64)
        self._node: IntArray = np.full(num_envs, self.stepper.forfeit)
        # The nodes and throws before the last step, and its actions, for who looks on; [B] where it was a move.
        self._before, self._moved = np.zeros((3, num_envs), np.int64), np.zeros(num_envs, np.bool_)
        self._begun = False
        self._choices: np.random.Generator | None = None
        # [B] the steps before each game is truncated, 0 where it is over too; None if turns end sooner in any case.
        self._left: IntArray | None = None
        self._limit = max_episode_steps or 0
        if 0 < self._limit <= self.stepper.longest:
            self._left = np.zeros(num_envs, np.int64)

    def reset(
        self, *, seed: int | Sequence[int] | None = None, options: dict[str, Any] | None = None
    ) -> tuple[NDArray[Any], dict[str, Any]]:
        """Begin all turns, or those of `options["reset_mask"]`, with the first throw or where `options` says.

        One generator throws the dice of all games: the seed is one integer, or a list of one for each game, which
        seeds the generator as a whole.

        Raises:
            ValueError: if `options` names no position of the game, or one without a legal move, if the mask is none or
                chooses no game, or the seeds are not as many as the games.
        """
        where = {**(options or {})}
        chosen = chosen_games(where.pop("reset_mask", np.ones(self.num_envs, np.bool_)), self.num_envs)
        beginning = self.stepper.beginnings(where) if where else self._first_throws
        if seed is None or isinstance(seed, int | np.integer):
            super().reset(seed=None if seed is None else int(seed))
        else:
            self.np_random = seeded(seed, self.num_envs)
        if seed is not None:
            self._choices = None
        self._begin(np.flatnonzero(chosen), *beginning)
        self._begun = True
        masks = self.stepper.action_mask.take(self._node, axis=0)
        infos = {"action_mask": masks, "_action_mask": chosen.copy()}
        return self.stepper.observation.take(self._node, axis=0), infos

    def step(self, actions: Any) -> Step:
        """Make a move in every game and throw again.

        Raises:
            ValueError: if an action is outside the action space, or is illegal and `illegal` is "raise".
            RuntimeError: before the first reset, or if a game is over and the autoreset mode is DISABLED.
        """
        self._check_playing()
        stepper, actions = self.stepper, checked_actions(actions, self.num_envs, self.stepper.actions)
        state = stepper.after(self._node, actions)
        if self._left is not None:
            state[self._left == 0] = stepper.start
        if self.illegal == "raise" and (state == stepper.forfeit_state).any():
            game = int((state == stepper.forfeit_state).argmax())
            where = stepper.describe(int(self._node[game]))
            raise ValueError(f"action {actions[game]} of game {game} is illegal at {where}")
        if self.render_mode is not None:
            self._before, self._moved = np.array([self._node, self._throw, actions]), state != stepper.start
        self._throw = self.np_random.integers(stepper.throws, size=self.num_envs)
        self._node = stepper.nodes(state, self._throw)
        over, reward = stepper.over.take(self._node), stepper.reward.take(self._node)
        truncated = self._count(over)
        if self.autoreset_mode != AutoresetMode.SAME_STEP:
            infos = endings(stepper, self._node, over)
        else:
            ended = over if self._left is None else over | truncated
            (games,), infos = ended.nonzero(), {}
            if len(games):
                infos = final_infos(stepper, self._node, over, ended)
                self._begin(games, *self._first_throws)
        infos["action_mask"] = stepper.action_mask.take(self._node, axis=0)
        infos["_action_mask"] = np.ones(self.num_envs, np.bool_)
        return stepper.observation.take(self._node, axis=0), reward, over, truncated, infos

    @property
    def nodes(self) -> IntArray:
        """[B] the nodes of the last observations, as the stepper numbers them."""
        return self._node.copy()

    def action_masks(self) -> NDArray[np.bool_]:
        """[B, A] True = legal: the masks of the last infos, as sb3-contrib asks for them."""
        return self.stepper.action_mask.take(self._node, axis=0).view(np.bool_)

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
        return self.stepper.choose(self._node, self._choices.random(self.num_envs))

    def snapshot(self) -> dict[str, Any]:
        """The games as they stand and the dice to come, as arrays and what JSON can hold; see `restore`."""
        left = {} if self._left is None else {"left": self._left.copy()}
        games = {"of": self._played, "node": self._node.copy(), "throw": self._throw.copy(), **left}
        return {**games, "begun": self._begun, "random": self.np_random.bit_generator.state}

    def restore(self, snapshot: Mapping[str, Any]) -> None:
        """Go on from a snapshot of an environment made alike: the same actions then lead to the same.

        Raises:
            ValueError: if the snapshot is not of as many games, or of other rules.
        """
        limit = {} if self._left is None else {"left": self._limit + 1}
        node, throw, *left = self._read(snapshot, (self.num_envs,), throw=self.stepper.throws, **limit)
        self._node, self._throw, self._begun = node, throw, snapshot["begun"]
        self._left = left[0] if left else None
        self._moved[:] = False

    def call(self, name: str, *args: Any, **kwargs: Any) -> tuple[Any, ...]:
        """What a method or attribute is for each game, as Gymnasium's own vector environments tell it.

        Raises:
            ValueError: if a game alone has no such method, such as `step`.
        """
        return of_each(self, name, args, kwargs)

    def get_attr(self, name: str) -> tuple[Any, ...]:
        """An attribute of each game: see `call`."""
        return of_each(self, name)

    def set_attr(self, name: str, values: Any) -> None:
        """Set an attribute, which all games have in common, to a value, or to a list of it for each game.

        Raises:
            ValueError: if the list has different values, or another length, or what was made depends on the attribute.
        """
        if hasattr(self.stepper, name):
            raise ValueError(f"{name} is fixed when an environment is made: make another")
        setattr(self, name, for_all(name, values, self.num_envs))

    def render(self) -> tuple[Any, ...] | None:
        """The position of every game, as text or as picture; a RuntimeError before the first reset."""
        if self.render_mode is not None and not self._begun:
            raise RuntimeError("no game has begun: call reset()")
        return None if self.render_mode is None else tuple(map(self._drawn, range(self.num_envs)))

    def _drawn(self, game: int) -> Any:
        last = self._move(*self._before[:, game].tolist()) if self._moved[game] else None
        return self._draw(int(self._node[game]), int(self._throw[game]), last, self._beside(game))

    def _check_playing(self) -> None:
        if not self._begun:
            raise RuntimeError("no game has begun: call reset()")
        if self.autoreset_mode == AutoresetMode.DISABLED and self._over().any():
            raise RuntimeError('a game is over: call reset(options={"reset_mask": mask}) on the games that are')

    def _over(self) -> NDArray[np.bool_]:
        """[B] True where a game is over or truncated."""
        return self.stepper.over.take(self._node) if self._left is None else self._left == 0

    def _count(self, over: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """[B] the games that are truncated after one step more."""
        if self._left is None:
            return np.zeros(self.num_envs, np.bool_)
        self._left = np.where(self._left == 0, self._limit, self._left - 1)
        truncated = self._left == 0
        self._left[over] = 0
        return truncated

    def _begin(self, games: IntArray, state: int, throws: IntArray) -> None:
        """Throw for some games at their first state."""
        throw = throws.take(self.np_random.integers(len(throws), size=len(games)))
        self._throw[games], self._moved[games] = throw, False
        self._node[games] = self.stepper.nodes(state, throw)
        if self._left is not None:
            self._left[games] = self._limit
