"""A page to look at a game with: `stb-gym explore`."""

from dataclasses import MISSING, dataclass
from typing import ClassVar

from stb_gym.cli.questions import GameAnswer, Parts, Question, Tell, flag, names, silent
from stb_gym.explorer import write_explorer
from stb_gym.games import Game


@dataclass(frozen=True, kw_only=True)
class Explore(Question):
    """Write a page that works offline: every position, everybody's moves, games against a coach, trainings."""

    name: ClassVar[str] = "explore"
    examples = "shut-the-box --out box.html", "threes --policy dqn-threes --out threes.html"

    out: str = flag(MISSING, "the file of the page", "PAGE.html")
    policy: tuple[str, ...] = flag(
        (),
        "a strategy or a saved policy whose moves are shown too, besides rules of thumb and kept policies",
        "NAME|FILE",
        names,
        repeated=True,
    )
    run: tuple[str, ...] = flag((), "the folder of a training that is shown too", "FOLDER", names, repeated=True)

    def answer(self, game: Game, tell: Tell = silent) -> "ExploreAnswer":
        """Write the page."""
        write_explorer(self.out, game, self.policy, self.run)
        return ExploreAnswer(game=game, out=self.out)


@dataclass(frozen=True, kw_only=True)
class ExploreAnswer(GameAnswer):
    """Where a page is."""

    out: str

    def heading(self) -> list[str]:
        """Nothing above the sentence."""
        return []

    def parts(self) -> Parts:
        """Where to look."""
        yield f"open {self.out} in a browser"
