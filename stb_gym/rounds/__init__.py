"""Several players, exactly: rounds, matches of rounds and tournaments, and rounds as environments.

- `scores_so_far`: what a player sees of the others.
- `round`: the rules of a round, its equilibrium, and the results of given players; `strategies`: how players are given;
  `seats`: the play of one seat; `optimal_turn`: best play of one turn.
- `par`: par scores.
- `matches`: several rounds between the same two players; `tournaments`: rounds up to a limit of points.
- `opponents`: the opponents of one seat, reduced to two draws; `env`: one seat of a round; `vector_env`: of many
  rounds at once; `self_play`: all seats of many rounds; `meter`: the exact regret of an agent in a round.
"""

from stb_gym.rounds.env import RoundEnv
from stb_gym.rounds.matches import BEGINS, Series, series
from stb_gym.rounds.meter import RoundMeter, RoundRegret
from stb_gym.rounds.opponents import Opponents, opponents_of
from stb_gym.rounds.optimal_turn import OptimalTurn
from stb_gym.rounds.par import Par, pars, shares
from stb_gym.rounds.round import INDIFFERENT, BestResponse, Outcome, Round, RoundEvaluation, RoundSolution
from stb_gym.rounds.scores_so_far import TIES, ScoresSoFar, ScoresSoFarTable
from stb_gym.rounds.seats import Seat
from stb_gym.rounds.self_play import Play, SelfPlayVectorEnv
from stb_gym.rounds.strategies import RoundStrategy
from stb_gym.rounds.tournaments import Tournament, tournament
from stb_gym.rounds.vector_env import RoundVectorEnv

__all__ = [
    "BEGINS", "INDIFFERENT", "TIES", "BestResponse", "Opponents", "OptimalTurn", "Outcome", "Par",
    "Play", "Round", "RoundEnv", "RoundEvaluation", "RoundMeter", "RoundRegret", "RoundSolution", "RoundStrategy",
    "RoundVectorEnv", "ScoresSoFar", "ScoresSoFarTable", "Seat", "SelfPlayVectorEnv", "Series", "Tournament",
    "opponents_of", "pars", "series", "shares", "tournament",
]  # fmt: skip
