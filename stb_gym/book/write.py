"""Writing the book of a game: every table as CSV and Markdown, every picture as SVG, and one page that shows them all.

The book is made in a folder of its own, which is renamed when it is complete: it appears whole or not at all. Where the
folder exists already, the finished files are moved into it, the page that shows them last.
"""

import os
import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from stb_gym.book.answers import answers
from stb_gym.book.chapters import Page, Section, chapter_of
from stb_gym.book.contents import contents
from stb_gym.games import Game, title
from stb_gym.output import new_folder, put_in_place, write_text

MARKDOWN_ROWS = 5000
INDEX = "index.html"
GENERATOR = '<meta name="generator" content="stb-gym book">'  # in the page, so that a book is known as one


def write_book(
    game: Game, out: str | Path, *, force: bool = False, progress: Callable[[str], None] = lambda name: None
) -> list[str]:
    """Write the book of a game into a folder.

    Args:
        game: the rules.
        out: the folder, made if it is not there. Hidden files in it do not count.
        force: write into a folder that is not empty: the book in it is replaced, file by file, other files stay.
        progress: called with the name of each table and picture before it is made.

    Returns:
        The names of the files, index.html last.

    Raises:
        ValueError: if `out` is no folder, or one that is not empty, if jinja2 is missing, or if there is something
            wrong with the chapter of the game.
    """
    try:
        from stb_gym.book.page import book_page
    except ImportError as error:
        raise ValueError(f"a book needs jinja2 ({error}): pip install 'stb-gym[tables]'") from None
    if not str(out):
        raise ValueError("the folder to write into has no name")
    out = Path(os.path.abspath(out))
    _check(out, force)
    new = not out.exists()
    place = out.parent if new else out
    place.mkdir(parents=True, exist_ok=True)
    with new_folder(place) as aside:
        folder = aside / out.name
        folder.mkdir()
        sections = list(_write_tables(folder, contents(game), title(game), progress))
        progress(INDEX)
        write_text(folder / INDEX, book_page(game, answers(chapter_of(game), sections), sections))
        names = sorted((path.name for path in folder.iterdir()), key=lambda name: (name == INDEX, name))
        if new:
            put_in_place(folder, out)
        else:
            _replace(folder, out, names)
    return names


def _check(out: Path, force: bool) -> None:
    """Refuse a folder that is none, or not empty, before any work is done."""
    if os.path.lexists(out) and not out.is_dir():
        raise ValueError(f"{out} is not a folder")
    if out.exists() and not force and any(not path.name.startswith(".") for path in out.iterdir()):
        raise ValueError(f"{out} is not empty; --force (force=True) replaces a book that is in it")


def _write_tables(
    folder: Path, pages: Mapping[str, Page], rules: str, progress: Callable[[str], None]
) -> Iterator[Section]:
    """Write the tables that have rows, and their pictures."""
    for name, page in pages.items():
        progress(name)
        table = page.table()
        if len(table) == 0:
            continue
        write_text(folder / f"{name}.csv", table.to_csv())
        write_text(folder / f"{name}.md", f"{table.to_markdown(MARKDOWN_ROWS)}\n{rules}\n")
        picture = page.picture and page.picture(table)
        if picture is not None:
            write_text(folder / f"{name}.svg", picture.to_svg())
        yield Section(name, page, table, picture)


def _replace(folder: Path, out: Path, names: list[str]) -> None:
    """Put the files of a book in the place of those of another, one by one, the page last; other files stay."""
    for name in names:
        if (out / name).is_dir():
            raise ValueError(f"{out / name} is a folder, where a file of the book has to be")
    page = out / INDEX
    before = page.read_text("utf-8", errors="replace") if page.is_file() else ""
    old = re.findall(r'(?:href|src)="([\w-]+\.(?:csv|md|svg|png))"', before) if GENERATOR in before else []
    for name in names:
        put_in_place(folder / name, out / name)
    for name in set(old) - set(names):
        (out / name).unlink(missing_ok=True)
