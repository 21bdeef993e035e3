"""The rules of a round of several players."""

from dataclasses import dataclass, field

from stb_gym.checks import check_bool, check_choice
from stb_gym.games import Game, check_game
from stb_gym.rounds.scores_so_far import ScoresSoFarTable
from stb_gym.solver import TurnTables, compile_game

INDIFFERENT = {
    "fewer": "among equally good moves, players prefer to share the lead with fewer",
    "company": "among equally good moves, players prefer to share the lead with more",
    "lowest": "among equally good moves, players take the lowest action",
}


@dataclass(frozen=True)
class RulesOfRound:
    """The rules of a round. `Round` describes the arguments, and adds what can be computed from them.

    Attributes:
        scores_so_far: all scores so far that the round may have.
    """

    game: Game
    players: int = 2
    ties: str = "split"
    shut_wins: bool = False
    indifferent: str = "fewer"
    scores_so_far: ScoresSoFarTable = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        check_game(self.game)
        check_bool("shut_wins", self.shut_wins)
        check_choice("rule for equally good moves", self.indifferent, list(INDIFFERENT))
        table = ScoresSoFarTable(compile_game(self.game), self.players, self.ties, bool(self.shut_wins))
        plain = {"players": int(self.players), "shut_wins": bool(self.shut_wins)}  # NumPy's numbers have another repr
        for name, value in {**plain, "scores_so_far": table}.items():
            object.__setattr__(self, name, value)

    @property
    def tables(self) -> TurnTables:
        """The arrays of the game."""
        return self.scores_so_far.tables
