"""The rules that have a name, and their perfect play: `stb-gym variants`."""

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Any, ClassVar

from stb_gym.command.answers import Answer
from stb_gym.command.solving import solved_boards
from stb_gym.exact import compile_game, fits, solve
from stb_gym.games import GAMES, Game, entry_of, make_game, own_rules
from stb_gym.output import Column, Table


@dataclass(frozen=True)
class AskVariants:
    """The variants of a game that have a name, and their perfect play; other rules change all of them."""

    name: ClassVar[str] = "variants"

    def answer(self, game: Game | None) -> "VariantsAnswer":
        """Solve every variant of a game with its changes; without a game, of the first that has variants."""
        if game is None:
            game = next(rules() for rules in GAMES.values() if entry_of(rules).variants)
        if not entry_of(game).variants:
            raise ValueError(f"{game.name} has no variants with a name")
        rows = [_variant(name, game) for name in entry_of(game).variants]
        return VariantsAnswer(game=game, changes=own_rules(game), variants=rows)


def _variant(name: str, changes: Game) -> dict[str, Any]:
    """A variant with changes in its rules, or why it cannot be so."""
    variant = entry_of(changes).variants[name]
    row: dict[str, Any] = {"name": name, "plays": variant.rules}
    try:
        game = make_game(type(changes), {**variant.fields, **own_rules(changes)})
        if fits(game):
            states, values = compile_game(game).states, [solve(game, wish).value for wish in ("score", "shut")]
        else:
            solved = [solved_boards(game, wish) for wish in ("score", "shut")]
            states, values = solved[0].utility.size, [each.value for each in solved]
    except ValueError as error:
        return row | {"refused": str(error)}
    rules = asdict(game)  # type: ignore[call-overload]
    return row | {"rules": rules, "states": states, "value": values[0], "shut_probability": values[1]}


@dataclass(frozen=True, kw_only=True)
class VariantsAnswer(Answer):
    """The variants of a game: name, rules in a line, states, value of perfect play, and chance of the perfect score."""

    changes: dict[str, Any]
    variants: list[dict[str, Any]]

    def to_json(self) -> dict[str, Any]:
        """The name of the game, the changes and a row for every variant."""
        assert self.game is not None
        return {"game": self.game.name, "changes": self.changes, "variants": self.variants}

    @property
    def heading(self) -> str:
        """What is changed in all of them."""
        changes = ", ".join(f"{name} {value}" for name, value in self.changes.items())
        return f"all with {changes}" if changes else ""

    def parts(self) -> Iterable[str | Table]:
        """A row for every variant."""
        rows = self.variants
        best = "most" if self.game is not None and self.game.more_is_better else "fewest"
        yield Table(
            "",
            "",
            {
                "variant": Column("", [row["name"] for row in rows]),
                "states": Column(",d", [row.get("states") for row in rows]),
                f"{best} points": Column(".6f", [row.get("value") for row in rows]),
                "chance to shut": Column(_small, [row.get("shut_probability") for row in rows]),
                "rules": Column(
                    "", [f"not so: {row['refused']}" if "refused" in row else row["plays"] for row in rows]
                ),
            },
        )


def _small(chance: float) -> str:
    return f"{chance:.6%}" if chance >= 1e-5 else f"{100 * chance:.3g}%"
