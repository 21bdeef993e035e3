"""Write the leaderboard: `python -m training.experiments.leaderboard > docs/leaderboard.md`.

The saved policies are measured exactly. No game is played, so the same files give the same page.
"""

import json
import tomllib
from collections import defaultdict
from hashlib import sha256
from pathlib import Path
from typing import Any

from jinja2 import Template
from pydantic import BaseModel, PositiveInt

from stb_gym.games import entry_of, title
from stb_gym.measure.policy_files import KEPT, read_policy
from stb_gym.output import read_bytes, read_text, reading, write_text
from stb_gym.solving import strategy


class Card(BaseModel, extra="forbid", strict=True):
    """The metadata of a saved policy, the best of `seeds` runs, after `steps` in all environments together.

    `masked` says whether illegal actions were masked when the agent chose.
    """

    who: str
    how: str
    masked: bool
    command: str
    settings: str
    steps: PositiveInt
    seeds: PositiveInt
    licence: str
    sha256: str


def write_card(policy: str | Path, **entries: Any) -> None:
    """Write the card of a policy file beside it, with all entries of a `Card` but `sha256`, which is computed here.

    Raises:
        ValueError: if an entry is missing, unknown or not allowed.
    """
    card = Card(**entries, sha256=sha256(Path(policy).read_bytes()).hexdigest())
    lines = [f"{name} = {json.dumps(value, ensure_ascii=False)}\n" for name, value in card]
    write_text(Path(policy).with_suffix(".toml"), "".join(lines))


def leaderboard(folder: Path = KEPT) -> str:
    """Return the page of the saved policies in a folder: a table for each game and objective, least regret first.

    Raises:
        ValueError: if a policy has no card, or the card is incomplete or for another file.
    """
    cards = {}
    boards = defaultdict(list)
    for path in sorted(folder.glob("*.npz")):
        with reading(path.with_suffix(".toml")) as card_path:
            card = Card(**tomllib.loads(read_text(card_path)))
        with reading(path):
            read_bytes(path, card.sha256)
        cards[path.stem] = card
        evaluation = read_policy(path).evaluate()
        best = evaluation.optimum
        board = best.game.name, evaluation.tables.nodes, title(best.game), best.objective.name
        boards[board].append((path.stem, evaluation))
    for rows in boards.values():
        best = rows[0][1].optimum
        heuristics = [
            (f"*{name}*", best.evaluate(strategy(best.game, name))) for name in entry_of(best.game).heuristics
        ]
        rows += [("*perfect play*", best.evaluate(best.policy)), min(heuristics, key=lambda row: row[1].regret)]
    template = read_text(Path(__file__).with_suffix(".md.j2"))
    return Template(template, trim_blocks=True).render(boards=sorted(boards.items()), cards=cards)


if __name__ == "__main__":
    print(leaderboard())
