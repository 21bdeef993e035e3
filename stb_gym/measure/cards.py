"""The card of a kept policy: who made it, how, and of which bytes that is said."""

import hashlib
import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from stb_gym.games import check_integer
from stb_gym.measure.policy_files import KEPT, kept_policies
from stb_gym.output import check_file, from_toml, made_of, read_text, write_text

LARGEST_ENTRY = 100_000  # bytes of a policy on the leaderboard


@dataclass(frozen=True)
class Card:
    """What is said of a policy.

    Attributes:
        who: its makers.
        how: the algorithm, in a few words.
        command: what makes it again, or where the program is.
        settings: of the algorithm.
        steps: in all environments together, for this policy.
        seeds: how many were trained, of which it is the best.
        licence: of the policy, as an SPDX identifier.
        sha256: of the policy's file.

    Raises:
        ValueError: if an entry is no such text or number.
    """

    who: str
    how: str
    command: str
    settings: str
    steps: int
    seeds: int
    licence: str
    sha256: str

    def __post_init__(self) -> None:
        for name, value in asdict(self).items():
            if name in ("steps", "seeds"):
                check_integer(name, value, 1, 10**15)
            elif not isinstance(value, str) or not value.strip() or not value.isprintable():
                raise ValueError(f"{name} must be a line of text, not {value!r}")

    def to_toml(self) -> str:
        """The card as it stands in its file."""
        return "".join(f"{name} = {json.dumps(value, ensure_ascii=False)}\n" for name, value in asdict(self).items())


def write_card(policy: str | Path, **known: Any) -> None:
    """Write the card of a policy's file beside it.

    Args:
        policy: the file.
        **known: all entries of a `Card` but the digest, which is taken here.

    Raises:
        ValueError: as `Card` does.
    """
    policy = Path(policy)
    write_text(policy.with_suffix(".toml"), Card(**known, sha256=digest(policy)).to_toml())


def read_card(policy: Path) -> Card:
    """The card beside a policy's file.

    Raises:
        ValueError: if there is none, it has other entries than those of a `Card`, or the file is another one than that
            of which it speaks.
    """
    path = policy.with_suffix(".toml")
    try:
        card = made_of(Card, from_toml(read_text(path)))
    except FileNotFoundError:
        raise ValueError(f"{policy} has no card {path}") from None
    except ValueError as error:
        raise ValueError(f"the card {path}: {error}") from None
    if card.sha256 != digest(policy):
        raise ValueError(f"the card {path} is of another file: the SHA-256 of {policy} is {digest(policy)}")
    return card


def digest(path: Path) -> str:
    """The SHA-256 of a file."""
    check_file(path)
    return hashlib.sha256(path.read_bytes()).hexdigest()


def read_cards(folder: Path = KEPT) -> dict[str, Card]:
    """The cards of all kept policies by name.

    Raises:
        ValueError: as `read_card` does; if a card has no policy, or a policy's file is larger than LARGEST_ENTRY.
    """
    names = kept_policies(folder=folder)
    if alone := sorted({path.stem for path in folder.glob("*.toml")} - {*names}):
        raise ValueError(f"there is a card but no policy {alone[0]} in {folder}")
    for path in (folder / f"{name}.npz" for name in names):
        if path.stat().st_size > LARGEST_ENTRY:
            raise ValueError(f"{path} has {path.stat().st_size:,} bytes; at most {LARGEST_ENTRY:,} are kept")
    return {name: read_card(folder / f"{name}.npz") for name in names}
