"""Several players, exactly: rounds, matches of rounds and tournaments.

- `standings`: what the players of a round see of each other; `lineups`: the chances of a line-up, best responses.
- `rounds`: a round and its equilibrium; `matches`: several rounds between two; `tournaments`: to a limit of points.
"""

from stb_gym.rounds.lineups import BestResponse, Reply, RoundEvaluation, blocks, worth_before
from stb_gym.rounds.matches import Outcome, match
from stb_gym.rounds.rounds import Round, RoundSolution, RoundStrategy
from stb_gym.rounds.standings import TIES, Standings
from stb_gym.rounds.tournaments import ENDS, Tournament, tournament

__all__ = [
    "ENDS", "TIES", "BestResponse", "Outcome", "Reply", "Round", "RoundEvaluation", "RoundSolution", "RoundStrategy",
    "Standings", "Tournament", "blocks", "match", "tournament", "worth_before",
]  # fmt: skip
