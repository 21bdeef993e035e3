"""Self-play in rounds: the opponents of a learner are its own earlier greedy policies.

    naive       the newest policy. This amounts to backward induction: the best play of the last player depends on
                nobody, and that of the one before only on the last
    fictitious  any policy so far, each with the same probability (Heinrich et al., "Fictitious self-play in
                extensive-form games", 2015)
    league      the newest policy in 80 % of the turns, else any policy so far (Berner et al., "Dota 2 with large scale
                deep reinforcement learning", 2019)

A player takes one turn in a round. So an opponent that draws a policy for each turn reaches each final score with the
average probability of these policies, and only the average is stored.
"""

from collections.abc import Sequence

import torch
from gymnasium.vector import AutoresetMode

from agents.common import Learner, State
from stb_gym.games import Game
from stb_gym.rounds import RoundEvaluation, RoundMeter, RoundVectorEnv, Seat

NEWEST = {"naive": 1.0, "fictitious": 0.0, "league": 0.8}  # probability of the newest policy instead of any


def round_envs(game: Game, num_envs: int, players: int, opponents: str) -> RoundVectorEnv:
    """Return the rounds that a learner plays, in SAME_STEP mode.

    Args:
        game: the rules of each turn.
        num_envs: the number of rounds played at once.
        players: the number of players.
        opponents: a key of `NEWEST`, which begins against random play, or the name of a strategy.
    """
    plays = "random" if opponents in NEWEST else opponents
    mode = AutoresetMode.SAME_STEP
    return RoundVectorEnv(game, num_envs, players, opponents=plays, autoreset_mode=mode, observation_dtype="uint8")


class SelfPlay:
    """The opponents of a learner in rounds, and how well it plays against them.

    Args:
        envs: the rounds that the learner plays, as `round_envs` makes them.
        opponents: as in `round_envs`.

    Attributes:
        count: the number of policies added so far.
        newest: the round in which the newest policy plays in every seat; None before `add`.
        average: the round in which every player draws one of the policies for the turn; None before `add`.

    Example:
        >>> import stb_gym
        >>> envs = round_envs(stb_gym.Threes(), 16, 2, "fictitious")
        >>> self_play = SelfPlay(envs, "fictitious")
        >>> for name in ("random", "approximation"):
        ...     self_play.add(envs.round.evaluate([name] * 2))
        >>> [lineup.seats.round(3).tolist() for lineup in (self_play.newest, self_play.average)]
        [[0.497, 0.503], [0.503, 0.497]]
    """

    def __init__(self, envs: RoundVectorEnv, opponents: str):
        self.count = 0
        self.newest: RoundEvaluation | None = None
        self.average: RoundEvaluation | None = None
        self._envs, self._opponents = envs, opponents
        self._meter = RoundMeter(envs)

    def add(self, newest: RoundEvaluation) -> None:
        """Add the round in which a new policy plays in every seat, and play against it from now on."""
        self.count += 1
        self.newest = newest
        self.average = newest if self.average is None else _mixture(newest, self.average, 1 / self.count)
        self._envs.set_opponents(_mixture(newest, self.average, NEWEST[self._opponents]))

    def measure(self, learner: Learner) -> dict[str, float]:
        """Measure the greedy policy of a learner exactly; in self-play it becomes the newest opponent.

        Args:
            learner: a learner that plays `envs`.

        Returns:
            `gain_1`, `gain_2` ...: how much more the best response of each seat wins; `gain` and `exploitability`: the
            largest of them and their sum; `wins_1`, `wins_2` ...: the expected win of each seat. In self-play these are
            of the round in which the greedy policy plays in every seat, and `gain_of_average` is the largest gain
            against the average policy.
        """
        if self._opponents in NEWEST:
            everyone = [self._meter.strategy(learner.act)] * self._envs.round.players
            newest = self._envs.round.evaluate(everyone)
            self.add(newest)
            assert self.average is not None
            gains, wins = _gains(newest), newest.seats.tolist()
            largest = {"gain": max(gains), "gain_of_average": max(_gains(self.average))}
        else:
            measured = self._meter(learner.act)
            gains, wins = measured.gains.tolist(), measured.seats.tolist()
            largest = {"gain": max(gains)}
        gain_by_seat = {f"gain_{seat}": gain for seat, gain in enumerate(gains, 1)}
        wins_by_seat = {f"wins_{seat}": win for seat, win in enumerate(wins, 1)}
        return {**largest, "exploitability": sum(gains), **gain_by_seat, **wins_by_seat}

    def state_dict(self) -> State:
        """Return everything that is needed to continue, as tensors and a number."""
        if self.newest is None or self.average is None:
            return {"count": 0}
        rounds = {"newest": self.newest, "average": self.average}
        played = {name: [[*map(torch.tensor, seat)] for seat in each.played] for name, each in rounds.items()}
        return {"count": self.count, **played}

    def load_state_dict(self, state: State) -> None:
        """Continue from a state of the same round, with the same opponents."""
        if state["count"]:
            self.count = state["count"]
            self.newest = newest = self._round(state["newest"])
            self.average = self._round(state["average"])
            self._envs.set_opponents(_mixture(newest, self.average, NEWEST[self._opponents]))

    def _round(self, tensors: Sequence[Sequence[torch.Tensor]]) -> RoundEvaluation:
        seats = (Seat(*(tensor.numpy() for tensor in seat)) for seat in tensors)
        return RoundEvaluation(self._envs.round, tuple(seats))


def _gains(lineup: RoundEvaluation) -> list[float]:
    """Return [players] how much more the best response of each seat wins."""
    return [lineup.best_response(seat).gain for seat in range(lineup.rules.players)]


def _mixture(first: RoundEvaluation, second: RoundEvaluation, share: float) -> RoundEvaluation:
    """Return the round in which every player plays as in `first` with probability `share`, else as in `second`."""
    seats = [
        Seat(*(share * one + (1 - share) * other for one, other in zip(*pair, strict=True)))
        for pair in zip(first.played, second.played, strict=True)
    ]
    return RoundEvaluation(first.rules, tuple(seats))
