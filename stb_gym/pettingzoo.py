"""A round of several players for PettingZoo: the seats take their turns one after another.

## Description
`env(...)` makes an environment of PettingZoo's AEC API. An agent makes all the moves of its turn, then the next agent
plays; the best final score wins. The last agent knows the score that it must beat. This module imports PettingZoo
(`pip install "stb-gym[pettingzoo]"`); `import stb_gym` does not.

## Agents
`player_0`, which begins, to `player_{players - 1}`.

## Action Space
That of the turn: see `docs/environments`.

## Observation Space
`Dict`, the same for all agents, because everything is public:
- `observation`: the numbers of the turn, then the scores so far as in `stb_gym/ThreesRound-v0`: the rank of the lead
  among the final scores (0 for the best; the number of final scores if nobody has a score), how many hold it, how many
  play after;
- `action_mask`: int8 [A], 1 = legal; all 0 if another agent is to move, and at the end.

## Rewards
0 until the round is over; then what each agent wins by the tie rule, see `stb_gym.rounds.Round`.

## Episode End
Terminated for all agents when the last one's turn is over or, with `shut_wins`, at a perfect score. After an illegal
action the agent wins nothing, and the others play on. No agent is ever truncated.

## Information
For an agent whose turn is over: `final_score` and `illegal_action`, as for the turn.

## Arguments
- `game="shut-the-box"`: the name of a game, or a rules object.
- `players=2`, `ties="split"`, `shut_wins=False`: the rules of the round, see `stb_gym.rounds.Round`.
- `illegal="end"`, `render_mode`, `observation_dtype="float32"` and the rules of the game: as for the turn.

`reset` ignores its options.

## Version History
- v0: first version.
"""

from typing import Any

import gymnasium as gym
import numpy as np
from numpy.typing import NDArray

from stb_gym.envs import TurnEnv, game_for, make_turn
from stb_gym.games import Game
from stb_gym.rounds import Play, Round
from stb_gym.rounds.env import round_space, with_scores

try:
    from pettingzoo import AECEnv
    from pettingzoo.utils.wrappers import OrderEnforcingWrapper
except ImportError as error:
    raise ImportError("stb_gym.pettingzoo needs PettingZoo: pip install 'stb-gym[pettingzoo]'") from error

ONLY = np.array([0])  # the one round in play


class RoundAECEnv(AECEnv):
    """A round in PettingZoo's AEC API; the module's docstring describes spaces, rewards and arguments.

    Attributes:
        round: the `Round`.

    Raises:
        TypeError: if a keyword is neither an argument nor a field of the rules.
        ValueError: if an argument is not allowed, or the game is too large.

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
        illegal: str = "end",
        render_mode: str | None = None,
        *,
        observation_dtype: Any = "float32",
        **rules: Any,
    ):
        super().__init__()
        self.render_mode = render_mode
        self.round = Round(game_for(type(self), game, rules), players, ties, shut_wins)
        self._turn = make_turn(
            self.round.game, illegal=illegal, render_mode=render_mode, observation_dtype=observation_dtype
        )
        self._play = Play(self.round, 1)
        self.possible_agents = [f"player_{seat}" for seat in range(players)]
        self.agents: list[str] = []
        observation = round_space(self._turn.observation_space, self.round)
        mask = gym.spaces.Box(0, 1, (self._turn.stepper.num_actions,), np.int8)
        self._observation_space = gym.spaces.Dict({"observation": observation, "action_mask": mask})
        self._action_space = self._turn.action_space

    def observation_space(self, agent: str) -> gym.spaces.Dict:
        """Return the space of the observations of any agent."""
        return self._observation_space

    def action_space(self, agent: str) -> gym.Space[Any]:
        """Return the space of the actions of any agent."""
        return self._action_space

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        """Begin a round; `options` are ignored."""
        self.agents = self.possible_agents[:]
        self.rewards = dict.fromkeys(self.agents, 0.0)
        self._cumulative_rewards = dict.fromkeys(self.agents, 0.0)
        self.terminations = dict.fromkeys(self.agents, False)
        self.truncations = dict.fromkeys(self.agents, False)
        self.infos: dict[str, dict[str, Any]] = {agent: {} for agent in self.agents}
        self._over = False
        self._play.begin(ONLY)
        self._begin_turn(seed)

    def step(self, action: int | None) -> None:
        """Make a move of the agent whose turn it is; None for an agent whose round is over.

        Raises:
            ValueError: if the action is outside the action space, or is illegal and `illegal` is "raise".
            TypeError: if the action is not an integer.
        """
        agent = self.agent_selection
        if self._over:
            if action is not None or not self.agents:
                raise ValueError("the round is over: step(None) for every agent, then reset()")
            self._was_dead_step(action)
            return
        self._cumulative_rewards[agent] = 0.0
        self._clear_rewards()
        self._observation, _, over, _, info = self._turn.step(action)
        if over:
            self.infos[agent] = {name: info[name] for name in ("final_score", "illegal_action")}
            self._end_turn(**self.infos[agent])

    def observe(self, agent: str) -> dict[str, NDArray[Any]]:
        """Return what an agent sees: the same for all, except for the mask."""
        plays = agent == self.agent_selection and not self._over
        observation = with_scores(self._observation, self._observed_scores)
        return {"observation": observation, "action_mask": self._turn.action_masks().astype(np.int8) * plays}

    def render(self) -> Any:
        """Draw the board, with the current agent and the score to beat or, at the end, the winners."""
        return self._turn.render()

    def close(self) -> None:
        """Close the window, if there is one."""
        self._turn.close()

    def _begin_turn(self, seed: int | None = None) -> None:
        """Begin the turn of the next agent."""
        self.agent_selection = self.possible_agents[self._play.seat[0]]
        self._observed_scores = self._play.observed[0]
        self._turn.caption = f"{self.agent_selection}: {self._play.scores_so_far(0).in_words(self.round.game)}"
        self._observation, _ = self._turn.reset(seed=seed)

    def _end_turn(self, final_score: int, illegal_action: bool) -> None:
        """Score the turn, then begin the next one or end the round."""
        rank = self.round.scores_so_far.ranks(np.array([final_score]), illegal_action)
        ended, wins = self._play.end_turns(ONLY, rank)
        if not len(ended):
            self._begin_turn()
            return
        self.rewards = dict(zip(self.agents, wins[0].tolist(), strict=True))
        self._accumulate_rewards()
        self._over = True
        self.terminations = dict.fromkeys(self.agents, True)
        winners = [agent for agent, reward in self.rewards.items() if reward]
        self._turn.caption = f"{' and '.join(winners) or 'nobody'} win{'s' * (len(winners) < 2)}"
        if self.render_mode == "human":
            self.render()


def env(game: Game | str = "shut-the-box", **arguments: Any) -> OrderEnforcingWrapper:
    """Make a `RoundAECEnv` that raises if it is used before its first reset."""
    return OrderEnforcingWrapper(RoundAECEnv(game, **arguments))
