"""Write the leaderboard: `python -m training.experiments.leaderboard > docs/leaderboard.md`.

The saved policies are measured exactly. No game is played, so the same files give the same page.
"""

import hashlib
import json
import tomllib
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import jinja2
from pydantic import ConfigDict, Field, PositiveInt
from pydantic.dataclasses import dataclass

from stb_gym.games import entry_of, title
from stb_gym.measure.policy_files import KEPT, read_policy
from stb_gym.output import read_text, say, write_text
from stb_gym.solver import Evaluation
from stb_gym.solving import strategy

LARGEST_ENTRY = 100_000  # bytes of a policy
Line = Annotated[str, Field(pattern=r"^[^\x00-\x1f]*\S[^\x00-\x1f]*$")]


@dataclass(frozen=True, config=ConfigDict(extra="forbid", strict=True))
class Card:
    """The metadata of a saved policy, the best of `seeds` runs, after `steps` in all environments together."""

    who: Line
    how: Line
    command: Line
    settings: Line
    steps: PositiveInt
    seeds: PositiveInt
    licence: Line
    sha256: Line


def write_card(policy: str | Path, **entries: Any) -> None:
    """Write the card of a policy file beside it, with all entries of a `Card` but `sha256`, which is computed here.

    Raises:
        ValueError: if an entry is missing, unknown or not allowed.
    """
    card = asdict(Card(**entries, sha256=_hash(Path(policy))))
    lines = [f"{name} = {json.dumps(value, ensure_ascii=False)}\n" for name, value in card.items()]
    write_text(Path(policy).with_suffix(".toml"), "".join(lines))


def read_cards(folder: Path = KEPT) -> dict[str, Card]:
    """Return the cards of all saved policies in a folder, by name.

    Raises:
        ValueError: if a policy or a card is alone, a card is incomplete or for another file, or a policy is large.
    """
    cards = {}
    for name in sorted({path.stem for path in folder.iterdir()}):
        policy = folder / f"{name}.npz"
        path = folder / f"{name}.toml"
        if not policy.exists() or not path.exists():
            raise ValueError(f"{name} in {folder} needs both a policy (.npz) and a card (.toml)")
        if policy.stat().st_size > LARGEST_ENTRY:
            raise ValueError(f"{policy} has more than {LARGEST_ENTRY:,} bytes")
        try:
            cards[name] = Card(**tomllib.loads(read_text(path)))
        except ValueError as error:
            raise ValueError(f"the card {path}: {' '.join(str(error).split())}") from None
        if cards[name].sha256 != _hash(policy):
            raise ValueError(f"the card {path} is for another file: the SHA-256 of {policy} is {_hash(policy)}")
    return cards


def _hash(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def leaderboard(folder: Path = KEPT) -> str:
    """Return the page of the saved policies in a folder: a table for each game and objective, least regret first."""
    cards = read_cards(folder)
    boards: dict[tuple[str, int, str], list[tuple[str, Evaluation]]] = {}
    for name in cards:
        evaluation = read_policy(folder / f"{name}.npz").evaluate()
        game, goal = evaluation.optimum.game, evaluation.optimum.objective.name
        board = (game.name, evaluation.tables.nodes, f"{title(game)}; objective {goal}")
        boards.setdefault(board, []).append((name, evaluation))
    sections = []
    for board in sorted(boards):
        best = boards[board][0][1].optimum
        heuristics = {name: best.evaluate(strategy(best.game, name)) for name in entry_of(best.game).heuristics}
        name = min(heuristics, key=lambda each: heuristics[each].regret)
        rows = [*boards[board], ("*perfect play*", best.evaluate(best.policy)), (f"*{name}*", heuristics[name])]
        sections.append({"title": board[2], "unit": best.objective.unit, "rows": rows})
    loader = jinja2.FileSystemLoader(Path(__file__).parent)
    pages = jinja2.Environment(loader=loader, trim_blocks=True, keep_trailing_newline=True)
    return pages.get_template("leaderboard.md.j2").render(sections=sections, cards=cards, largest=LARGEST_ENTRY)


if __name__ == "__main__":
    say(leaderboard().removesuffix("\n"))
