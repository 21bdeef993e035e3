"""Books that are written once, and read by all tests."""

from functools import cache
from typing import NamedTuple
from unittest.mock import patch

import pytest

from stb_gym import ShutTheBox, Threes
from stb_gym.book import write, write_book
from stb_gym.book.contents import contents
from tests.book.reading import Page


class Book(NamedTuple):
    """A book on disk, what made it, and what its page says."""

    game: object
    folder: object
    files: list
    progress: list
    tables: dict
    page: Page
    text: str


def written(game, folder):
    """Write a book, and read it; its tables are made once, for its files and for the tests."""
    progress = []
    pages = {name: page._replace(table=cache(page.table)) for name, page in contents(game).items()}
    with patch.object(write, "contents", lambda game: pages):
        files = write_book(game, folder, progress=progress.append)
    tables = {name: page.table() for name, page in pages.items()}
    text = (folder / "index.html").read_text()
    return Book(game, folder, files, progress, {n: t for n, t in tables.items() if len(t)}, Page(text), text)


@pytest.fixture(scope="session")
def box(tmp_path_factory):
    """The book of a box of six tiles, in a folder that has to be made."""
    return written(ShutTheBox(6), tmp_path_factory.mktemp("shelf") / "new" / "box")


@pytest.fixture(scope="session")
def threes(tmp_path_factory):
    """The book of Threes with three dice."""
    return written(Threes(3), tmp_path_factory.mktemp("shelf") / "threes")


@pytest.fixture(params=["box", "threes"])
def book(request):
    """Each of them."""
    return request.getfixturevalue(request.param)
