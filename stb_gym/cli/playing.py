"""Play in the terminal: `stb-gym play`."""

from dataclasses import dataclass
from typing import ClassVar

from stb_gym.cli.contests import RoundQuestion, player
from stb_gym.cli.questions import Tell, flag, names, objective_flag, silent
from stb_gym.cli.solving import VALUES, perfect_play
from stb_gym.games import Game, check_integer
from stb_gym.output import Progress
from stb_gym.terminal import play_alone, play_round


@dataclass(frozen=True, kw_only=True)
class Play(RoundQuestion):
    """Play in the terminal: a turn, or a round against strategies; with a coach who knows what every choice costs."""

    name: ClassVar[str] = "play"
    examples = "threes --coach", "shut-the-box --against optimal --seat 2"
    interactive: ClassVar[bool] = True

    objective: str = objective_flag()
    values: str | None = flag(None, VALUES, "FILE")
    coach: bool = flag(False, "say after every choice what it cost")
    against: tuple[str, ...] = flag(
        (),
        "play a round against a strategy, or a kept or saved policy",
        "STRATEGY",
        names,
        repeated=True,
    )
    seat: int = flag(1, "your place in the round", "N", int)
    seed: int | None = flag(None, "same seed, same dice", "S", int)

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
        rules = self.round(game, 1 + len(opponents))
        play_round(rules, opponents, self.seat, self.coach, self.seed)

    def _alone(self, game: Game) -> None:
        if self.has_own_rules:
            raise ValueError("ties, shut-wins and may-stop are rules of a round: name somebody to play it by --against")
        check_integer("seat", self.seat, 1, 1)
        with Progress("stb-gym play") as progress:
            known = perfect_play(game, self.objective, self.values, progress.tell)
        play_alone(known, self.coach, self.seed)
