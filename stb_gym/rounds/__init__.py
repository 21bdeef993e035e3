"""Several players, exactly: rounds, matches of rounds and tournaments.

- `standings`: what the players of a round see of each other; `replies`: best play at them, and what the indifferent do.
- `lineups`: the chances of a line-up, best responses; `rounds`: a round and its equilibrium.
- `playing`: rounds as they are played, turn by turn.
- `prospects`: departures from the play of a turn alone, and par scores.
- `matches`: several rounds, by who begins each; `tournaments`: to a limit of points.
- `opponents`: what they leave to the player, and what they make of what the player leaves; `draws` from that.
- `stepping`: the tables of the player's turn; `seat`: what the environments have in common.
- `env`: one round, one seat; `vector_env`: many at once; `self_play`: all seats of many rounds at once.
- `meter`: the exact chance to win of anybody's agent, and what the best response to the opponents wins more.
"""

from stb_gym.rounds.lineups import (
    BestResponse, Outcome, RoundEvaluation, RoundSolution, Seat, reached_after, worth_before,
)  # fmt: skip
from stb_gym.rounds.matches import BEGINS, Series, match, series
from stb_gym.rounds.env import RoundEnv
from stb_gym.rounds.meter import RoundMeter, RoundRegret
from stb_gym.rounds.opponents import Opponents, opponents_of
from stb_gym.rounds.playing import Play
from stb_gym.rounds.prospects import Departures, Par, departures, firsts, pars, shares
from stb_gym.rounds.replies import INDIFFERENT, Reply
from stb_gym.rounds.rounds import ROUNDING, Range, Round, RoundStrategy
from stb_gym.rounds.seat import StandingEnv
from stb_gym.rounds.self_play import SelfPlayVectorEnv
from stb_gym.rounds.standings import TIES, Standings
from stb_gym.rounds.tournaments import ENDS, Tournament, tournament
from stb_gym.rounds.vector_env import RoundVectorEnv

__all__ = [
    "BEGINS",
    "ENDS",
    "INDIFFERENT",
    "ROUNDING",
    "TIES",
    "BestResponse",
    "Departures",
    "Opponents",
    "Outcome",
    "Par",
    "Play",
    "Range",
    "Reply",
    "Round",
    "RoundEnv",
    "RoundEvaluation",
    "RoundMeter",
    "RoundRegret",
    "RoundSolution",
    "RoundStrategy",
    "RoundVectorEnv",
    "Seat",
    "SelfPlayVectorEnv",
    "Series",
    "StandingEnv",
    "Standings",
    "Tournament",
    "departures",
    "firsts",
    "match",
    "opponents_of",
    "pars",
    "reached_after",
    "series",
    "shares",
    "tournament",
    "worth_before",
]  # fmt: skip
