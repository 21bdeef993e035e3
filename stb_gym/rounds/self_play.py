"""All seats of many rounds at once, as a Gymnasium vector environment: for players who learn against themselves."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from gymnasium.vector import AutoresetMode
from numpy.typing import NDArray

from stb_gym.envs import Step, TurnVectorEnv, game_for
from stb_gym.games import Game, IntArray
from stb_gym.rounds.playing import Play
from stb_gym.rounds.seat import StandingEnv


class SelfPlayVectorEnv(StandingEnv, TurnVectorEnv):
    """`num_envs` rounds at once, in which whoever's turn it is acts; observations are those of `RoundEnv`.

    The step that ends a turn begins the next one, of the next seat or of a new round, as `TurnVectorEnv` does in
    SAME_STEP mode. Rewards are 0 until a round is over, and then known for all its seats at once. So infos tell

    - `seat` [B]: who plays next, whose observation it is;
    - `wins` [B, N]: what each seat wins by the tie rule, in steps that end a round, for the rounds of `_wins` [B].

    An illegal action forfeits the turn: its seat wins nothing, and the others play on as if it had not been there.

    Args:
        game: the name of a game, or a rules object.
        num_envs: how many rounds.
        players: how many play each.
        ties, shut_wins: the rules of the round, see `stb_gym.Round`.
        illegal, render_mode, observation_dtype: see `TurnEnv`.
        **rules: fields of the rules that differ from the standard ones.

    Attributes:
        round: the `Round`.

    Example:
        >>> import stb_gym
        >>> envs = stb_gym.SelfPlayVectorEnv("threes", num_envs=1000, players=3)
        >>> _, infos = envs.reset(seed=0)
        >>> while "wins" not in infos:
        ...     observations, _, _, _, infos = envs.step(envs.legal_sample())
        >>> infos["wins"][infos["_wins"]].sum(axis=1).tolist()[:3], observations.shape
        ([1.0, 1.0, 1.0], (1000, 10))
    """

    def __init__(
        self,
        game: Game | str,
        num_envs: int = 1,
        players: int = 2,
        ties: str = "split",
        shut_wins: bool = False,
        illegal: str = "end",
        render_mode: str | None = None,
        *,
        observation_dtype: Any = "uint8",
        **rules: Any,
    ):
        self._rules = {"players": players, "ties": ties, "shut_wins": shut_wins}
        super().__init__(
            game_for(type(self), game, rules),
            num_envs,
            "score",
            illegal,
            render_mode,
            AutoresetMode.SAME_STEP,
            observation_dtype=observation_dtype,
        )
        self._play = Play(self.round, num_envs)

    def reset(
        self, *, seed: int | Sequence[int] | None = None, options: dict[str, Any] | None = None
    ) -> tuple[NDArray[Any], dict[str, Any]]:
        """Begin all rounds, or those of `options["reset_mask"]`; the turns of the first seats where `options` says.

        Raises:
            ValueError: as `TurnVectorEnv.reset` does.
        """
        observation, infos = super().reset(seed=seed, options=options)
        self._play.begin(np.flatnonzero(infos["_action_mask"]))
        return self._with(observation), infos | self._seats()

    def step(self, actions: Any) -> Step:
        """Make a move in every round and throw again; where a turn is over, the next seat throws.

        Raises:
            ValueError: if an action is outside the action space, or is illegal and `illegal` is "raise".
            RuntimeError: before the first reset.
        """
        observation, score, over, truncated, infos = super().step(actions)
        (games,) = over.nonzero()
        if len(games):
            infos["final_obs"] = self._with(infos["final_obs"])
            ended = self._play.end_turns(games, score.take(games).astype(np.int64))
            if len(ended):
                infos["wins"], infos["_wins"] = np.zeros((self.num_envs, self.round.players)), np.zeros_like(over)
                infos["wins"][ended], infos["_wins"][ended] = self._play.wins(ended), True
                self._play.begin(ended)
        return self._with(observation), np.zeros(self.num_envs), over, truncated, infos | self._seats()

    def _with(self, observation: NDArray[Any]) -> NDArray[Any]:
        """Observations [B, O + 3], in which the standings now are."""
        observation[:, self._width :] = self._standings()
        return observation

    def _standings(self) -> IntArray:
        return self._play.seen

    def _seats(self) -> dict[str, Any]:
        return {"seat": self._play.seat.copy(), "_seat": np.ones(self.num_envs, np.bool_)}

    def snapshot(self) -> dict[str, Any]:
        """The rounds as they stand and the dice to come, as arrays and what JSON can hold; see `restore`."""
        return {**super().snapshot(), "places": self._play.places.copy(), "seat": self._play.seat.copy()}

    def restore(self, snapshot: Mapping[str, Any]) -> None:
        """Go on from a snapshot of an environment made alike: the same actions then lead to the same.

        Raises:
            ValueError: if the snapshot is not of as many rounds, or of other rules.
        """
        super().restore(snapshot)
        self._play.restore(snapshot.get("places"), snapshot.get("seat"))

    def _beside(self, game: int) -> str:
        return f"player_{self._play.seat[game]}: {self._play.standing(game).in_words(self.game)}"
