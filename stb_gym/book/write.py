"""Writing the book of a game: every table as CSV and Markdown, every picture, and one page that shows them all.

The book is made in a folder of its own, which is renamed when it is complete: it appears whole or not at all.
"""

import os
import shutil
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from stb_gym.book.table import Table
from stb_gym.game import Game

if TYPE_CHECKING:
    from stb_gym.book.contents import Page

MARKDOWN_ROWS = 5000
PAGE_ROWS = 25
DOTS_PER_INCH = 130
INDEX = "index.html"


class Section(NamedTuple):
    """What the page of the book shows of a table: its first rows, and how many there are in all."""

    name: str
    head: Table
    rows: int
    picture: bool


def write_book(
    game: Game, out: str | Path, *, force: bool = False, progress: Callable[[str], None] = lambda name: None
) -> list[str]:
    """Write the book of a game into a folder.

    Args:
        game: the rules.
        out: the folder, made if it is not there. Hidden files in it do not count.
        force: write into a folder that is not empty: files of the same names are replaced, others stay.
        progress: called with the name of each table and picture before it is made.

    Returns:
        The names of the files, index.html last.

    Raises:
        ValueError: if `out` is no folder, or one that is not empty, or if jinja2 or matplotlib is missing.
    """
    try:
        import jinja2

        from stb_gym.book.contents import contents
    except ModuleNotFoundError:
        raise ValueError("a book needs jinja2 and matplotlib: pip install 'stb-gym[tables]'") from None
    out = Path(out)
    if out.exists() and not out.is_dir():
        raise ValueError(f"{out} is not a folder")
    if out.exists() and not force and any(not path.name.startswith(".") for path in out.iterdir()):
        raise ValueError(f"{out} is not empty; --force replaces the files of the same names in it")
    rules = ", ".join(f"{name} {value}" for name, value in asdict(game).items())  # type: ignore[call-overload]
    with _folder_aside(out) as folder:
        sections = list(_write_tables(folder, contents(game), f"{game.name}: {rules}", progress))
        page = jinja2.Environment(loader=jinja2.FileSystemLoader(Path(__file__).parent), autoescape=True)
        html = page.get_template(f"{INDEX}.j2").render(game=game.name, rules=rules, sections=sections)
        _write(folder / INDEX, html)
        return _publish(folder, out)


def _write_tables(
    folder: Path, pages: Mapping[str, "Page"], rules: str, progress: Callable[[str], None]
) -> Iterator[Section]:
    """Write the tables that have rows, and their pictures."""
    for name, page in pages.items():
        progress(name)
        table = page.table()
        if len(table) == 0:
            continue
        _write(folder / f"{name}.csv", table.to_csv())
        _write(folder / f"{name}.md", f"{table.to_markdown(MARKDOWN_ROWS)}\n{rules}\n")
        if page.picture is not None:
            progress(f"{name}.png")
            page.picture(table).savefig(folder / f"{name}.png", dpi=DOTS_PER_INCH)
        yield Section(name, table.take(range(min(len(table), PAGE_ROWS))), len(table), page.picture is not None)


def _write(path: Path, text: str) -> None:
    path.write_text(text, encoding="utf-8", newline="\n")  # the same bytes on every system


@contextmanager
def _folder_aside(out: Path) -> Iterator[Path]:
    """A folder to write in, inside `out` if that exists, else beside it; it is gone when the block ends."""
    place = out if out.exists() else out.absolute().parent
    aside = place / f".{os.getpid()}-{out.name}"
    aside.mkdir(parents=True)
    try:
        yield aside
    finally:
        shutil.rmtree(aside, ignore_errors=True)


def _publish(folder: Path, out: Path) -> list[str]:
    """Move the finished files to where they belong, index.html last; returns their names."""
    names = sorted((path.name for path in folder.iterdir()), key=lambda name: (name == INDEX, name))
    if out.exists():
        for name in names:
            (folder / name).replace(out / name)
    else:
        folder.replace(out)
    return names
