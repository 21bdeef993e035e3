"""Several players, exactly: rounds, matches of rounds and tournaments.

- `standings`: what the players of a round see of each other; `replies`: best play at them, and what the indifferent do.
- `lineups`: the chances of a line-up, best responses; `rounds`: a round and its equilibrium.
- `playing`: rounds as they are played, turn by turn.
- `prospects`: departures from the play of a turn alone, and par scores.
- `matches`: several rounds, by who begins each; `tournaments`: to a limit of points.
"""

from stb_gym.rounds.lineups import (
    BestResponse, Outcome, RoundEvaluation, RoundSolution, Seat, reached_after, worth_before,
)  # fmt: skip
from stb_gym.rounds.matches import BEGINS, Series, match, series
from stb_gym.rounds.playing import Play
from stb_gym.rounds.prospects import Departures, Par, departures, firsts, pars, shares
from stb_gym.rounds.replies import INDIFFERENT, Reply
from stb_gym.rounds.rounds import ROUNDING, Range, Round, RoundStrategy
from stb_gym.rounds.standings import TIES, Standings
from stb_gym.rounds.tournaments import ENDS, Tournament, tournament

__all__ = [
    "BEGINS", "ENDS", "INDIFFERENT", "ROUNDING", "TIES", "BestResponse", "Departures", "Outcome", "Par", "Play",
    "Range", "Reply", "Round", "RoundEvaluation", "RoundSolution", "RoundStrategy", "Seat", "Series", "Standings",
    "Tournament", "departures", "firsts", "match", "pars", "reached_after", "series", "shares", "tournament",
    "worth_before",
]  # fmt: skip
