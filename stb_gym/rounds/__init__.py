"""Several players, exactly: rounds, matches of rounds and tournaments, and rounds as environments.

- `standings`: the final scores so far, as a player sees them; `equilibrium`: a round, its equilibrium, the chances of
  lineups, and best responses; `par`: par scores, and departures from solo play.
- `matches`: several rounds between the same players; `tournaments`: rounds up to a limit of points.
- `opponents`: the opponents of one seat, reduced to two draws; `env`: one seat of a round; `vector_env`: of many
  rounds at once; `self_play`: all seats of many rounds; `meter`: the exact regret of an agent in a round.
"""

from stb_gym.rounds.env import RoundEnv
from stb_gym.rounds.equilibrium import (
    BestResponse,
    INDIFFERENT,
    Outcome,
    Reply,
    Round,
    RoundEvaluation,
    RoundSolution,
    RoundStrategy,
    Seat,
)
from stb_gym.rounds.matches import BEGINS, Series, match, series
from stb_gym.rounds.meter import RoundMeter, RoundRegret
from stb_gym.rounds.opponents import Opponents, opponents_of
from stb_gym.rounds.par import Departures, Par, departures, pars, shares
from stb_gym.rounds.self_play import Play, SelfPlayVectorEnv
from stb_gym.rounds.standings import Standings, TIES
from stb_gym.rounds.tournaments import ENDS, Tournament, tournament
from stb_gym.rounds.vector_env import RoundVectorEnv

__all__ = [
    "BEGINS", "ENDS", "INDIFFERENT", "TIES", "BestResponse", "Departures", "Opponents", "Outcome", "Par", "Play",
    "Reply", "Round", "RoundEnv", "RoundEvaluation", "RoundMeter", "RoundRegret", "RoundSolution", "RoundStrategy",
    "RoundVectorEnv", "Seat", "SelfPlayVectorEnv", "Series", "Standings", "Tournament", "departures",
    "match", "opponents_of", "pars", "series", "shares", "tournament",
]  # fmt: skip
