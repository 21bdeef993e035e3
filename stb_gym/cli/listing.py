"""What there is: `stb-gym strategies`, `stb-gym variants` and `stb-gym states`."""

from dataclasses import dataclass
from typing import Any, ClassVar

from stb_gym.cli.contests import StandingAnswer, StandingQuestion
from stb_gym.cli.questions import (
    Answer,
    GameAnswer,
    Parts,
    Question,
    Tell,
    TurnAnswer,
    objective_flag,
    silent,
    table,
)
from stb_gym.cli.solving import measured, perfect_play
from stb_gym.games import GAMES, Game, all_rules, entry_of, make_game, own_rules, words_of
from stb_gym.output import Column, Table
from stb_gym.solver import compile_game, fits, objective_of, solve, solve_boards, strategies, strategy, ways_to_shut

WORTH = ("value", "regret", "shut_probability")  # of a strategy


@dataclass(frozen=True, kw_only=True)
class ListStrategies(Question):
    """The named strategies and, for a game, what they are worth."""

    name: ClassVar[str] = "strategies"
    examples = "shut-the-box", "threes --objective at-most:5"
    needs_game: ClassVar[bool] = False

    objective: str = objective_flag()

    def answer(self, game: Game | None, tell: Tell = silent) -> "StrategyNames | StrategiesAnswer":
        """The strategies of a game, evaluated; without one those of all games."""
        if game is None:
            objective_of(next(iter(GAMES.values()))(), self.objective)
            return StrategyNames(strategies={name: dict(strategies(rules())) for name, rules in GAMES.items()})
        best = perfect_play(game, self.objective, None, tell)
        worths = {}
        for name in strategies(game):
            tell(note=name)
            found = measured(best, strategy(game, name))
            worths[name] = {key: getattr(found, key) for key in WORTH}  # and no more: policies of large boxes are large
        return StrategiesAnswer(game=game, objective=best.objective, worths=worths)


@dataclass(frozen=True, kw_only=True)
class StrategyNames(Answer):
    """How the strategies of every game play, in a line each."""

    strategies: dict[str, dict[str, str]]

    def parts(self) -> Parts:
        """A table for every game."""
        for game, plays in self.strategies.items():
            yield Table.from_rows([game, "how it plays"], list(plays.items()))


@dataclass(frozen=True, kw_only=True)
class StrategiesAnswer(TurnAnswer):
    """The strategies of a game by name, evaluated."""

    worths: dict[str, dict[str, float]]

    def entries(self) -> dict[str, Any]:
        """A row for every strategy."""
        plays = strategies(self.game)
        rows = [{"name": name, "plays": plays[name], **worth} for name, worth in self.worths.items()]
        return {"strategies": rows}

    def parts(self) -> Parts:
        """A row for every strategy."""
        found, plays = self.worths.values(), strategies(self.game)
        yield table(
            {
                "strategy": Column("", list(self.worths)),
                "value": Column(self.in_unit, [each["value"] for each in found]),
                "regret": Column(self.in_unit, [each["regret"] for each in found]),
                words_of(self.game).perfection: Column(_share, [each["shut_probability"] for each in found]),
                "how it plays": Column("", [plays[name] for name in self.worths]),
            }
        )


@dataclass(frozen=True, kw_only=True)
class ListVariants(Question):
    """The variants of a game that have a name, and their perfect play; other rules change all of them."""

    name: ClassVar[str] = "variants"
    examples = "", "shut-the-box --tiles 10"
    needs_game: ClassVar[bool] = False

    @classmethod
    def usual_game(cls) -> str | None:
        """The first game that has variants."""
        return next((name for name, rules in GAMES.items() if entry_of(rules).variants), None)

    def answer(self, game: Game, tell: Tell = silent) -> "VariantsAnswer":
        """Solve every variant of a game, with the rules of the game that are not the standard ones."""
        variants = entry_of(game).variants
        if not variants:
            raise ValueError(f"{game.name} has no variants with a name")
        rows = []
        for name in variants:
            tell(note=name)
            rows.append(_variant(name, game))
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
            solved = [solve_boards(game, wish) for wish in ("score", "shut")]
            states, values = solved[0].utility.size, [each.value for each in solved]
    except ValueError as error:
        return row | {"refused": str(error)}
    return row | {"rules": all_rules(game), "states": states, "value": values[0], "shut_probability": values[1]}


@dataclass(frozen=True, kw_only=True)
class VariantsAnswer(GameAnswer):
    """The variants of a game: name, rules in a line, states, value of perfect play, and chance of the perfect score."""

    changes: dict[str, Any]
    variants: list[dict[str, Any]]

    def about(self) -> dict[str, Any]:
        """The name of the game."""
        return {"game": self.game.name}

    def heading(self) -> list[str]:
        """What is changed in all of them."""
        changes = ", ".join(f"{name} {value}" for name, value in self.changes.items())
        return [f"all with {changes}"] if changes else []

    def parts(self) -> Parts:
        """A row for every variant."""
        rows, best = self.variants, "most" if self.game.more_is_better else "fewest"
        rules = [f"not so: {row['refused']}" if "refused" in row else row["plays"] for row in rows]
        yield table(
            {
                "variant": Column("", [row["name"] for row in rows]),
                "states": Column(",d", [row.get("states") for row in rows]),
                f"{best} points": Column(".6f", [row.get("value") for row in rows]),
                words_of(self.game).perfection: Column(_small, [row.get("shut_probability") for row in rows]),
                "rules": Column("", rules),
            }
        )


def _small(chance: float) -> str:
    return f"{chance:.6%}" if chance >= 1e-5 else f"{100 * chance:.3g}%"


def _share(chance: float) -> str:
    return f"{chance:.4%}" if chance >= 1e-5 or not chance else _small(chance)


@dataclass(frozen=True, kw_only=True)
class ListStates(StandingQuestion):
    """Every position before a throw: what it is worth, and in how many ways the perfect score is reached from there."""

    name: ClassVar[str] = "states"
    examples = "shut-the-box --tiles 5", "threes --dice 2 --lead 4 --after 1"

    objective: str = objective_flag()

    def answer(self, game: Game, tell: Tell = silent) -> "StatesAnswer":
        """Solve the game and count the ways.

        Example:
            >>> import stb_gym
            >>> start = ListStates(objective="shut").answer(stb_gym.ShutTheBox(tiles=10)).states[-1]
            >>> start["ways"][5:7]  # in five and in six throws
            [117120, 465677280]
        """
        turn = self.turn(game, self.objective)
        solution = turn.best if turn else solve(game, self.objective)
        tables, words = solution.tables, words_of(game)
        ways = ways_to_shut(tables, exact=True).tolist()
        places = [int(place) for place in (tables.dice > 0).nonzero()[0]]
        names = [words.state(int(tables.held[place]), int(tables.dice[place])) for place in places]
        rows = [
            {"state": name, "value": float(solution.state_value[place]), "ways": ways[place]}
            for name, place in zip(names, places, strict=True)
        ]
        return StatesAnswer(game=game, objective=solution.objective, seen=turn and turn.seen, states=rows)


@dataclass(frozen=True, kw_only=True)
class StatesAnswer(StandingAnswer):
    """Every state before a throw, its value, and its ways to the perfect score in exactly 0, 1, 2 ... throws.

    Every throw of the dice and every legal move counts as one way of its own.
    """

    states: list[dict[str, Any]]

    def parts(self) -> Parts:
        """A row for every state, with all its ways together."""
        yield table(
            {
                "before a throw": Column("", [row["state"] for row in self.states]),
                "value": Column(self.in_unit, [row["value"] for row in self.states]),
                "ways to the perfect score": Column(",d", [sum(row["ways"]) for row in self.states]),
            }
        )
