"""The first page of a book: what people ask, answered in sentences with the numbers of its tables."""

import math
from collections import defaultdict
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from stb_gym.book.chapters import Answer, Chapter, Section
from stb_gym.output import Column, Table

FEW = 16  # first rolls that are told one by one
KINDS = 5  # first moves that are told otherwise
ROUNDS = 20  # of an evening
EVEN = 1e-9  # smaller differences are rounding

Rows = list[dict[str, Any]]


def answers(chapter: Chapter, sections: Sequence[Section]) -> list[Answer]:
    """What the tables answer, as far as they are there.

    Args:
        chapter: what is of this game alone.
        sections: the tables of the book that have rows.
    """
    tables = {section.name: section.shown for section in sections}
    names = [name for name in chapter.rules_of_thumb if f"departures-{name}-by-cost" in tables][:1]
    first = chapter.scorings[0].name
    asked: list[tuple[str, str, Callable[[Table], str]]] = [
        ("How well can one play?", "strategies", _perfect_play),
        ("What is the best opening?", "openings", _opening),
        ("How much is luck?", "openings", _luck),
        ("How often does the choice matter?", f"choices-{first}", partial(_choices, of=tables.get(f"nodes-{first}"))),
        *(("What does a mistake cost?", f"departures-{name}-by-cost", partial(_mistakes, name)) for name in names),
        ("Points or the perfect score?", "where-they-part", _wishes),
        ("Who begins better?", "rounds", _seats),
        ("What is a good score?", "winning", _good_score),
        ("Who wins an evening?", "evenings", _evening),
    ]
    told = [Answer(question, say(tables[page]), page) for question, page, say in asked if page in tables]
    return [*told, *chapter.answers(tables)]


def rows_of(table: Table) -> Rows:
    """The rows of a table by their headings."""
    return [dict(zip(table.columns, row, strict=True)) for row in table.rows]


def _perfect_play(strategies: Table) -> str:
    named = {row["strategy"]: row for row in rows_of(strategies)}
    best, perfect, random, worst = (named[name] for name in ("optimal-score", "optimal-shut", "random", "worst"))
    chance = next(heading for heading in best if heading.startswith("chance of"))
    score = chance.removeprefix("chance of score ")
    return (
        f"Who plays for the points expects {best['expected points']:.2f} and ends with a score of {score} in "
        f"{best[chance]:.2%} of the turns; who plays for that alone has it in {perfect[chance]:.2%}. Random moves "
        f"expect {random['expected points']:.2f} points, the worst ones {worst['expected points']:.2f}."
    )


def _opening(openings: Table) -> str:
    """The best move on every first roll that leaves a choice, or how likely the commonest ones are."""
    rolls = [row for row in rows_of(openings) if row["best for the points"]]
    if not rolls:
        return "There is nothing to choose at the first roll."
    if len(rolls) <= FEW:
        rolls.sort(key=lambda row: row["roll"].place)
        said = "; ".join(f"on {row['roll']} {row['best for the points']}" for row in rolls)
        return f"{said[0].upper()}{said[1:]}."
    likely: dict[str, float] = defaultdict(float)
    for row in rolls:
        likely[row["best for the points"]] += row["chance of the roll"]
    often = sorted(likely, key=lambda move: -likely[move])[:KINDS]
    told = ", ".join(f"{move} ({likely[move]:.1%})" for move in often)
    return f"Of the {len(openings):,} first rolls it is, from the commonest: {told}."


def _luck(openings: Table) -> str:
    rolls = rows_of(openings)
    first, last = rolls[0], rolls[-1]
    return (
        f"The luckiest first roll, {first['roll']}, leaves {first['expected points']:.2f} points to be expected, the "
        f"unluckiest, {last['roll']}, {last['expected points']:.2f}."
    )


def _choices(matter: Table, of: Table | None) -> str:
    spec, lost = matter.columns["at stake"]
    median, most = Column(str(spec).replace(".4", ".2"), [sorted(lost)[len(lost) // 2], max(lost)]).cells()
    return (
        f"At {len(matter):,} of the {len(of or matter):,} positions with a move. At half of them the worst play from "
        f"there on loses {median} or more, at most {most}."
    )


def _mistakes(name: str, mistakes: Table) -> str:
    dearest, regret = rows_of(mistakes)[0], math.fsum(mistakes.columns["cost"].values)
    return (
        f"The rule of thumb {name} gives away {regret:.3f} points a turn. Its dearest mistake is made in "
        f"{dearest['visits']:.2%} of its turns: {dearest['state']}, roll {dearest['roll']}. It plays "
        f"{dearest['plays']}; {dearest['best']} is better by {dearest['loss']:.2f} points."
    )


def _wishes(part: Table) -> str:
    first, perfect = rows_of(part)[0], list(part.columns)[3].removeprefix("best for ")
    return (
        f"They ask for different moves at {len(part):,} positions. The likeliest: {first['state']}, roll "
        f"{first['roll']}. For the points {first['best for the points']}, for {perfect} {first[f'best for {perfect}']}."
    )


def _seats(rounds: Table) -> str:
    """Of two players and of the most, if tied players share the win."""
    sizes = defaultdict(list)
    for row in rows_of(rounds):
        sizes[row["players"]].append(row["split"])
    two, most = sizes[2], max(sizes)
    if abs(two[0] - two[1]) < EVEN:
        return "Of two perfect players neither."
    who = "The first" if two[0] > two[1] else "The second"
    return (
        f"{who} of two perfect players, with {max(two):.2%} to {min(two):.2%} if ties split. Of {most} players the "
        f"first wins {sizes[most][0]:.2%}, the last {sizes[most][-1]:.2%}."
    )


def _good_score(winning: Table) -> str:
    told = []
    for heading in (heading for heading in winning.columns if heading.endswith(" after")):
        good = [row["score"] for row in rows_of(winning) if row[heading] >= 0.5]
        told.append(f"{good[-1] if good else 'no score'} with {heading.replace('after', 'to come')}")
    return f"Worth half the win or more, if ties split: a score of {', '.join(told)}, or a better one."


def _evening(evenings: Table) -> str:
    row, name = rows_of(evenings)[ROUNDS - 1], list(evenings.columns)[1].removeprefix("beats ")
    return (
        f"Of {ROUNDS} rounds against {name} perfect play wins more in {row[f'beats {name}']:.1%} of the evenings and "
        f"fewer in {row[f'loses to {name}']:.1%}."
    )
