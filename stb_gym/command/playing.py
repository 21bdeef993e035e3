"""Play in the terminal: `stb-gym play`."""

from dataclasses import dataclass
from typing import ClassVar

from stb_gym.command.advising import VALUES_WORDS
from stb_gym.command.contests import MAY_STOP_WORDS, SHUT_WINS_WORDS, TIES_WORDS, player
from stb_gym.command.questions import Question, Tell, flag, silent
from stb_gym.command.solving import OBJECTIVE, OBJECTIVE_WORDS, perfect_play
from stb_gym.games import Game, check_integer
from stb_gym.output import Progress
from stb_gym.rounds import TIES, Round
from stb_gym.terminal import play_alone, play_round


@dataclass(frozen=True)
class Play(Question):
    """Play in the terminal: a turn, or a round against strategies; with a coach who knows what every choice costs."""

    name: ClassVar[str] = "play"
    interactive: ClassVar[bool] = True

    objective: str = flag("score", OBJECTIVE_WORDS, OBJECTIVE)
    values: str | None = flag(None, VALUES_WORDS, "FILE")
    coach: bool = flag(False, "say after every choice what it cost")
    against: tuple[str, ...] = flag(
        (), "play a round against a strategy, or a saved policy; once for every opponent", "STRATEGY", repeated=True
    )
    seat: int = flag(1, "your place in the round", "N", int)
    seed: int | None = flag(None, "same seed, same dice", "S", int)
    ties: str = flag("all-win", TIES_WORDS, "|".join(TIES))
    shut_wins: bool = flag(False, SHUT_WINS_WORDS)
    may_stop: bool = flag(False, MAY_STOP_WORDS)

    def answer(self, game: Game, tell: Tell = silent) -> None:
        """Play until the game ends or the person leaves."""
        if not self.against:
            self._alone(game)
            return
        if self.values is not None:
            raise ValueError("values of boards are for a turn alone, without --against")
        if self.objective != "score":
            raise ValueError(f"objective {self.objective} is for playing alone: a round is played to win")
        opponents = [(name, player(game, name)) for name in self.against]
        rules = Round(game, 1 + len(opponents), self.ties, self.shut_wins, self.may_stop)
        play_round(rules, opponents, self.seat, self.coach, self.seed)

    def _alone(self, game: Game) -> None:
        if self.ties != "all-win" or self.shut_wins or self.may_stop:
            raise ValueError("ties, shut-wins and may-stop are rules of a round: name somebody to play it by --against")
        check_integer("seat", self.seat, 1, 1)
        with Progress("stb-gym play") as progress:
            known = perfect_play(game, self.objective, self.values, progress.tell)
        play_alone(known, self.coach, self.seed)
