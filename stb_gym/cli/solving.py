"""What a turn is worth under perfect play: `stb-gym solve` and `stb-gym certify`."""

from dataclasses import dataclass
from typing import Any, ClassVar

from stb_gym.cli.questions import Parts, Question, Tell, TurnAnswer, facts, flag, objective_flag, silent, table
from stb_gym.games import Game, rolls, rolls_in_words, words_of
from stb_gym.output import Column
from stb_gym.solver import (
    BoardValues,
    Goal,
    Measured,
    Solution,
    certify,
    choice_at,
    evaluate_boards,
    fits,
    load_board_values,
    objective_of,
    solve,
    solve_boards,
)  # fmt: skip

VALUES = "look values up in a file that stb-gym solve --out saved"
ROLLS_SHOWN = 36  # of those of the first throw, of which Threes has 252


@dataclass(frozen=True, kw_only=True)
class Solve(Question):
    """Solve a game: the value of perfect play."""

    name: ClassVar[str] = "solve"
    examples = "shut-the-box --tiles 10 --objective shut --exact", "threes --json"

    objective: str = objective_flag()
    worst: bool = flag(False, "the worst play instead of the best")
    exact: bool = flag(False, "compute in fractions")
    out: str | None = flag(None, "save the value of every board (Shut the Box, throws as sums)", "FILE")

    def answer(self, game: Game, tell: Tell = silent) -> "SolveAnswer":
        """Solve a game.

        Example:
            >>> import stb_gym
            >>> round(Solve(objective="shut").answer(stb_gym.ShutTheBox()).value, 6)
            0.071432
        """
        if self.out is not None or not fits(game):
            return self._by_boards(game, tell)
        solution = solve(game, self.objective, worst=self.worst, exact=self.exact)
        tables = solution.tables
        fraction = f"{solution.value.numerator}/{solution.value.denominator}" if self.exact else None
        first = tables.nodes_of(tables.start)
        return SolveAnswer(
            game=game,
            objective=objective_of(game, self.objective),
            play="worst" if self.worst else "best",
            value=float(solution.value),
            fraction=fraction,
            shut_probability=solution.evaluate(solution.policy).shut_probability,
            states=tables.states,
            decision_nodes=len(tables.decisions),
            by_first_roll={
                words: float(solution.node_value[node])
                for words, node in zip(rolls_in_words(words_of(game), game.dice), first, strict=True)
            },
        )

    def _by_boards(self, game: Game, tell: Tell) -> "SolveAnswer":
        if self.exact or (self.worst and self.out is not None):
            raise ValueError("fractions are for games that fit into arrays, and the worst play is not saved")
        goal = objective_of(game, self.objective)
        values = _solve_boards(game, goal, tell, worst=self.worst)
        held, dice = game.start()
        by_roll = {}
        for roll, words in zip(rolls(game, dice).shown, rolls_in_words(words_of(game), dice), strict=True):
            by_roll[words] = values.objective.sign * choice_at(values, held, dice, roll).utility + 0.0
        if self.out is not None:
            values.save(self.out)
        return SolveAnswer(
            game=game,
            objective=goal,
            play="worst" if self.worst else "best",
            value=values.value,
            states=values.utility.size,
            by_first_roll=by_roll,
            out=self.out,
        )


@dataclass(frozen=True, kw_only=True)
class SolveAnswer(TurnAnswer):
    """The value of perfect (or worst) play, and of every first roll, in the objective's unit."""

    play: str
    value: float
    fraction: str | None = None
    shut_probability: float | None = None
    states: int
    decision_nodes: int | None = None
    by_first_roll: dict[str, float]
    out: str | None = None

    def parts(self) -> Parts:
        """The value, and that of every first roll."""
        shut = self.shut_probability
        yield facts(
            (f"{self.play} play", self.in_unit(self.value)),
            None if self.fraction is None else ("exactly", self.fraction),
            None if shut is None else (words_of(self.game).perfection, f"{shut:.6%}"),
            ("states", f"{self.states:,}"),
            None if self.decision_nodes is None else ("nodes with a move", f"{self.decision_nodes:,}"),
            None if self.out is None else ("values saved in", self.out),
        )
        yield from self._first_rolls(list(self.by_first_roll), list(self.by_first_roll.values()))

    def _first_rolls(self, names: list[str], values: list[float]) -> Parts:
        """A row for every first roll or, where they are many, for the luckiest and the unluckiest, ranked."""
        columns = {"first roll": Column("", names), "value": Column(self.in_unit, values)}
        if len(names) <= ROLLS_SHOWN:
            yield table(columns)
            return
        shown = rolls(self.game, self.game.start()[1])
        chances = (shown.counts / len(shown.of_throw)).tolist()
        ranked = sorted(range(len(names)), key=lambda place: -self.objective.sign * values[place])
        rank = {place: number for number, place in enumerate(ranked, 1)}
        columns |= {"chance": Column(".4%", chances), "rank": Column("d", [rank[place] for place in range(len(names))])}
        ends = table(columns).take(ranked[: ROLLS_SHOWN // 2] + ranked[-ROLLS_SHOWN // 2 :])
        yield f"first rolls, the luckiest {ROLLS_SHOWN // 2} and the unluckiest {ROLLS_SHOWN // 2} of {len(names)}"
        yield ends
        yield f"and {len(names) - ROLLS_SHOWN} first rolls between them, all of them with --json"


@dataclass(frozen=True, kw_only=True)
class Certify(Question):
    """Solve a game in fractions, check that solution and the one in floats, and print a hash of all values."""

    name: ClassVar[str] = "certify"
    examples = "shut-the-box", "threes --objective shut"

    objective: str = objective_flag()
    out: str | None = flag(None, "save the values of all states in fractions", "FILE")

    def answer(self, game: Game, tell: Tell = silent) -> "CertifyAnswer":
        """Certify the solution of a game.

        Example:
            >>> import stb_gym
            >>> Certify().answer(stb_gym.ShutTheBox()).fraction
            '27323400707/2448880128'
        """
        certificate = certify(game, self.objective, lambda done: tell(note=done))
        if self.out is not None:
            certificate.save(self.out)
        return CertifyAnswer(
            game=game,
            objective=objective_of(game, self.objective),
            value=float(certificate.value),
            fraction=f"{certificate.value.numerator}/{certificate.value.denominator}",
            states=certificate.states,
            nodes=certificate.nodes,
            largest_error=certificate.largest_error,
            largest_relative_error=certificate.largest_relative_error,
            optimal_actions_agree=certificate.optimal_actions_agree,
            sha256=certificate.sha256,
            out=self.out,
        )


@dataclass(frozen=True, kw_only=True)
class CertifyAnswer(TurnAnswer):
    """What is certain of a solution; see `stb_gym.Certificate`."""

    value: float
    fraction: str
    states: int
    nodes: int
    largest_error: float
    largest_relative_error: float
    optimal_actions_agree: bool
    sha256: str
    out: str | None = None

    def parts(self) -> Parts:
        """What was checked, and what came of it."""
        yield facts(
            ("perfect play", self.in_unit(self.value)),
            ("exactly", self.fraction),
            ("Bellman equation", f"holds at all {self.states:,} states and {self.nodes:,} nodes"),
            ("largest error of floats", f"{self.largest_error:.2g}"),
            ("as a share of the value", f"{self.largest_relative_error:.2g}"),
            ("optimal actions of floats", "the same" if self.optimal_actions_agree else "NOT the same"),
            ("SHA-256 of all values", self.sha256),
            None if self.out is None else ("values saved in", self.out),
        )


def perfect_play(game: Game, objective: str, file: str | None, tell: Tell) -> Solution | BoardValues:
    """Perfect play of a game: that of a file of board values or, if the game is too large for arrays, by its boards."""
    if file is not None:
        return load_board_values(file, game, objective)
    return solve(game, objective) if fits(game) else _solve_boards(game, objective, tell)


def _solve_boards(game: Game, objective: Goal, tell: Tell, *, worst: bool = False) -> BoardValues:
    return solve_boards(game, objective, lambda done, total: tell(done, total, note="rows of boards"), worst=worst)


def measured(optimum: Solution | BoardValues, policy: Any, illegal: str = "raise", tell: Tell = silent) -> Measured:
    """A policy measured against perfect play: by boards, if that is known by boards."""
    if isinstance(optimum, BoardValues):
        return evaluate_boards(optimum, policy, lambda done, total: tell(done, total, note="rows of boards"))
    return optimum.evaluate(policy, illegal)
