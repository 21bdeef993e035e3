"""The tree of moves and rolls below a position: `stb-gym tree`."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, ClassVar

from stb_gym.cli.contests import StandingAnswer, StandingQuestion
from stb_gym.cli.questions import Parts, Tell, flag, objective_flag, silent
from stb_gym.games import Game, check_choice
from stb_gym.output import write_aside
from stb_gym.solver import Branch, move_tree, solve

PICTURES = ("png", "svg", "pdf")


@dataclass(frozen=True, kw_only=True)
class ShowTree(StandingQuestion):
    """The tree of moves and rolls below a position, with values, losses and chances; as text or as a picture."""

    name: ClassVar[str] = "tree"
    examples = "shut-the-box --open 1,3,4,6,7 --roll 7 --depth 2", "threes --points 2 --roll 3,1,4"

    where: Mapping[str, Any] = flag({}, "the position", position=True)
    depth: int = flag(1, "how many throws to look ahead, 1 to 3; the roll of the position is the first", "N", int)
    objective: str = objective_flag()
    out: str | None = flag(None, "draw the tree instead (needs matplotlib)", "FILE.png|svg|pdf")

    def answer(self, game: Game, tell: Tell = silent) -> "TreeAnswer":
        """Return the tree, and draw it if a file is named.

        Raises:
            ValueError: if the position, the depth or the file is not allowed.
            ImportError: if there is to be a picture, and matplotlib is not installed.

        Example:
            >>> import stb_gym
            >>> tree = ShowTree(where={"open": [1, 3, 4, 6, 7], "roll": 7}).answer(stb_gym.ShutTheBox()).tree
            >>> [move.label for move in tree.branches]
            ['shut 7', 'shut 3,4', 'shut 1,6']
        """
        suffix = Path(self.out or "").suffix.removeprefix(".").lower()
        if self.out is not None:
            check_choice("kind of picture", suffix, PICTURES)
        turn = self.turn(game, self.objective)
        solution = turn.best if turn else solve(game, self.objective)
        tree = move_tree(solution, self.depth, **self.where)
        if self.out is not None:
            from stb_gym import plots  # needs matplotlib

            with write_aside(self.out) as aside:
                figure: Any = plots.move_tree(tree).figure
                figure.savefig(aside, format=suffix, bbox_inches="tight")
        seen = turn and turn.seen
        return TreeAnswer(game=game, objective=solution.objective, seen=seen, tree=tree, out=self.out)


@dataclass(frozen=True, kw_only=True)
class TreeAnswer(StandingAnswer):
    """A tree, see `stb_gym.solver.Branch`, and the file of its picture if there is one."""

    tree: Branch
    out: str | None = None

    def entries(self) -> dict[str, Any]:
        """The tree as nested objects."""
        return super().entries() | {"tree": asdict(self.tree)}

    def parts(self) -> Parts:
        """The tree as text, or where its picture is."""
        yield self.tree if self.out is None else f"wrote {self.out}"
