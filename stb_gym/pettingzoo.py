"""For PettingZoo: a round of several players, whose seats take their turns one after another.

## Description
`env(...)` is an environment of PettingZoo's AEC API, `parallel_env(...)` the same by its conversion of turn-based ones.
An agent makes all the moves of its turn, then the next agent plays; the best final score wins. Who plays last knows
what is to be beaten. Importing this module starts PettingZoo (`pip install "stb-gym[pettingzoo]"`);
`import stb_gym` does not.

## Agents
`player_0`, who begins, to `player_{players - 1}`.

## Action Space
That of the turn: see `stb_gym.games.shut_the_box.environment` and `stb_gym.games.threes.environment`.

## Observation Space
`Dict`, for all agents the same, as everything is public:
- `observation`: the numbers of the turn, then the standing as `stb_gym/ThreesRound-v0` shows it: the place of the lead
  among the final scores (the best at 0; the place after the worst without a score), how many hold it, how many play
  after;
- `action_mask`: int8 [A], 1 = legal; all 0 for an agent whose turn it is not, and at the end.

## Rewards
Nothing until the round is over; then what it is worth to each agent by the tie rule, see `stb_gym.Round`.

## Episode End
Terminated for all agents when the last one's turn is over or, with `shut_wins`, at a perfect score. An illegal action
forfeits the turn: the agent wins nothing, and the others play on. With `max_cycles` a turn is cut off after so many
moves, and forfeited, too; who is cut off is truncated when the round is over.

## Information
Of an agent whose turn is over: `final_score` and `illegal_action`, as for the turn.

## Arguments
- `game="shut-the-box"`: the name of a game, or a rules object.
- `players=2`, `ties="split"`, `shut_wins=False`: the rules of the round, see `stb_gym.Round`.
- `max_cycles=None`: the moves that a turn may have; turns end without it, too.
- `illegal="end"`, `render_mode`, `observation_dtype="uint8"` and the rules of the game: as for the turn. Options of
  `reset` have no meaning here.

## Version History
- v0: first version.
"""

from copy import deepcopy
from typing import Any

import gymnasium as gym
import numpy as np
from numpy.typing import NDArray

from stb_gym.envs import TurnEnv, game_for
from stb_gym.games import Game, check_integer
from stb_gym.rounds import Play, StandingEnv

try:
    from pettingzoo import AECEnv, ParallelEnv
    from pettingzoo.utils.conversions import turn_based_aec_to_parallel
    from pettingzoo.utils.wrappers import OrderEnforcingWrapper
except ImportError as error:
    raise ImportError("stb_gym.pettingzoo needs PettingZoo: pip install 'stb-gym[pettingzoo]'") from error

ONLY = np.array([0])  # the one round in play


class RoundAECEnv(AECEnv):
    """A round as PettingZoo's AEC API has it; spaces, rewards and arguments are on the page of this module.

    Attributes:
        round: the `Round`.

    Raises:
        TypeError: if there is no such argument, nor such a field of the rules.
        ValueError: if what is given for one is not allowed, or the game is too large.

    Example:
        >>> import stb_gym.pettingzoo
        >>> env = stb_gym.pettingzoo.env("threes", players=3)
        >>> env.reset(seed=0)
        >>> for agent in env.agent_iter():
        ...     observation, reward, terminated, truncated, info = env.last()
        ...     over = terminated or truncated
        ...     env.step(None if over else env.action_space(agent).sample(observation["action_mask"]))
    """

    metadata = {**TurnEnv.metadata, "name": "stb_gym_round_v0", "is_parallelizable": False}  # noqa: RUF012

    def __init__(
        self,
        game: Game | str = "shut-the-box",
        players: int = 2,
        ties: str = "split",
        shut_wins: bool = False,
        max_cycles: int | None = None,
        illegal: str = "end",
        render_mode: str | None = None,
        *,
        observation_dtype: Any = "uint8",
        **rules: Any,
    ):
        super().__init__()
        if max_cycles is not None:
            check_integer("max_cycles", max_cycles, 1, 2**31)
        self.max_cycles, self.render_mode = max_cycles, render_mode
        rules_of_round = {"players": players, "ties": ties, "shut_wins": shut_wins}
        self._turn = _Turn(game_for(type(self), game, rules), rules_of_round, illegal, render_mode, observation_dtype)
        self.round = self._turn.round
        self.possible_agents = [f"player_{seat}" for seat in range(players)]
        self.agents: list[str] = []
        self._seen = {agent: self._turn.space() for agent in self.possible_agents}
        self._actions = {agent: gym.spaces.Discrete(self._turn.stepper.actions) for agent in self.possible_agents}

    def observation_space(self, agent: str) -> gym.spaces.Dict:
        """The space of an agent's observations."""
        return self._seen[agent]

    def action_space(self, agent: str) -> gym.spaces.Discrete:
        """The space of an agent's actions."""
        return self._actions[agent]

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        """Begin a round; options have no meaning here."""
        self.agents = self.possible_agents[:]
        self.rewards, self._cumulative_rewards = (dict.fromkeys(self.agents, 0.0) for _ in range(2))
        self.terminations, self.truncations = (dict.fromkeys(self.agents, False) for _ in range(2))
        self.infos: dict[str, dict[str, Any]] = {agent: {} for agent in self.agents}
        self._cut: set[str] = set()
        self._over = False
        self._turn.play.begin(ONLY)
        self._throw(seed)

    def step(self, action: int | None) -> None:
        """Make a move of the agent whose turn it is; of one for whom the round is over, None.

        Raises:
            ValueError: if the action is outside the action space, or is illegal and `illegal` is "raise".
            TypeError: if the action is no integer.
        """
        agent = self.agent_selection
        if self._over:
            self._was_dead_step(action)
            return
        self._cumulative_rewards[agent] = 0.0
        self._clear_rewards()
        _, place, over, _, info = self._turn.step(action)
        self._moves += 1
        if over:
            self.infos[agent] = {name: info[name] for name in ("final_score", "illegal_action")}
            self._end_turn(int(place))
        elif self._moves == self.max_cycles:
            self._cut.add(agent)
            self._end_turn(len(self.round.standings.scores))

    def observe(self, agent: str) -> dict[str, NDArray[Any]]:
        """What an agent sees: the same as all, but for the mask."""
        plays = agent == self.agent_selection and not self._over
        return {"observation": self._turn.seen(), "action_mask": self._turn.action_masks().astype(np.int8) * plays}

    def render(self) -> Any:
        """The board of the turn and, beside it, whose it is and what is to be beaten; at the end, who wins."""
        return self._turn.render()

    def close(self) -> None:
        """Close the window, if there is one."""
        self._turn.close()

    def _throw(self, seed: int | None = None) -> None:
        """Begin the turn of the next agent."""
        play = self._turn.play
        self.agent_selection, self._moves = self.possible_agents[play.seat[0]], 0
        self._turn.told = f"{self.agent_selection}: {play.standing(0).in_words(self.round.game)}"
        self._turn.reset(seed=seed)

    def _end_turn(self, place: int) -> None:
        """Score the turn, and go on with the next or end the round."""
        play = self._turn.play
        if not len(play.end_turns(ONLY, np.array([place]))):
            self._throw()
            return
        self.rewards = dict(zip(self.agents, play.wins(ONLY)[0].tolist(), strict=True))
        self._accumulate_rewards()
        self._over = True
        self.truncations = {agent: agent in self._cut for agent in self.agents}
        self.terminations = {agent: agent not in self._cut for agent in self.agents}
        winners = [agent for agent, reward in self.rewards.items() if reward]
        self._turn.told = f"{' and '.join(winners) or 'nobody'} win{'s' * (len(winners) < 2)}"
        if self.render_mode == "human":
            self.render()


class _Turn(StandingEnv, TurnEnv):
    """The turn of whoever plays, seen beside the standing."""

    def __init__(self, game: Game, rules: dict[str, Any], illegal: str, render_mode: str | None, dtype: Any):
        self._rules = rules
        super().__init__(game, "score", illegal, render_mode, observation_dtype=dtype)
        self.play, self.told = Play(self.round, 1), ""
        self._sees = self.play.seen.copy()

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[NDArray[Any], dict[str, Any]]:
        self._sees = self.play.seen.copy()
        return super().reset(seed=seed)

    def space(self) -> gym.spaces.Dict:
        """The space of what is seen, and of the mask."""
        mask = gym.spaces.Box(0, 1, (self.stepper.actions,), np.int8)
        return gym.spaces.Dict({"observation": deepcopy(self.observation_space), "action_mask": mask})

    def seen(self) -> NDArray[Any]:
        """[O + 3] the turn as it stands, and the standing that it began with."""
        observation = self.stepper.observe(self._node)
        observation[self._width :] = self._sees[0]
        return observation

    def _standings(self) -> NDArray[Any]:
        return self._sees

    def _beside(self, game: int) -> str:
        return self.told


raw_env = RoundAECEnv


def env(game: Game | str = "shut-the-box", **arguments: Any) -> OrderEnforcingWrapper:
    """A `RoundAECEnv` that says so if it is not reset, as PettingZoo's own environments are made."""
    return OrderEnforcingWrapper(RoundAECEnv(game, **arguments))


def parallel_env(game: Game | str = "shut-the-box", **arguments: Any) -> ParallelEnv:
    """The same by PettingZoo's parallel API: of all actions, that of the agent whose turn it is counts."""
    return turn_based_aec_to_parallel(env(game, **arguments))
