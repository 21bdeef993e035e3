"""The book on disk: whole or not at all, the same every time, and a page that works without anything else."""

import csv
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from stb_gym import ShutTheBox, Threes
from stb_gym.book import write, write_book
from stb_gym.book.contents import contents
from stb_gym.book.pictures import Picture
from tests import PATIENCE
from tests.book.reading import Page

pytestmark = pytest.mark.slow

GAME = ShutTheBox(4)


def bytes_in(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def test_every_table_and_picture_is_there(book):
    pages = contents(book.game)
    drawn = {f"{name}.svg" for name in book.tables if pages[name].picture}
    tables = {f"{name}.{kind}" for name in book.tables for kind in ("csv", "md")}
    assert {*bytes_in(book.folder)} == set(book.files) == tables | drawn | {"index.html"}
    assert book.files[-1] == "index.html"
    assert book.progress == [*pages, "index.html"]
    assert book.folder in list(book.folder.parent.iterdir())
    assert not [path for path in book.folder.parent.iterdir() if path.name.startswith(".")]


def test_the_files_hold_the_tables(box):
    table = box.tables["strategies"]
    with (box.folder / "strategies.csv").open(newline="") as file:
        header, *rows = csv.reader(file)
    assert header[:2] == ["strategy", "expected_points"]
    assert [(row[0], float(row[1])) for row in rows] == [row[:2] for row in table.rows]
    text = (box.folder / "strategies.md").read_text()
    assert text.startswith(f"# {table.title}\n\n{table.note}\n\n| strategy |")
    assert text.endswith("shut-the-box: tiles 6, dice 2, faces 6, score sum\n")


def test_the_same_book_twice(threes, tmp_path):
    write_book(threes.game, tmp_path / "again")
    assert bytes_in(tmp_path / "again") == bytes_in(threes.folder)


@pytest.fixture
def quick(monkeypatch):
    """Three pages, one of them with a picture."""
    pages = contents(GAME)
    kept = {name: pages[name] for name in ("strategies", "ways", "winning")}
    monkeypatch.setattr(write, "contents", lambda game: kept)
    return ["strategies.csv", "strategies.md", "ways.csv", "ways.md", "winning.csv", "winning.md", "winning.svg"]


def test_a_long_table_is_cut_in_markdown_alone(quick, monkeypatch, tmp_path):
    monkeypatch.setattr(write, "MARKDOWN_ROWS", 11)
    write_book(GAME, tmp_path / "book")
    for name, rows in (("winning", 11), ("strategies", 13)):
        text = (tmp_path / "book" / f"{name}.md").read_text()
        assert text.count("\n| ") - 2 == 11
        assert ("The first 11 of 13 rows" in text) == (rows == 13)
        assert len((tmp_path / "book" / f"{name}.csv").read_text().splitlines()) == 1 + rows


def test_a_folder_that_is_not_empty_is_refused_unless_forced(quick, tmp_path):
    out = tmp_path / "book"
    out.mkdir()
    (out / "mine.txt").write_text("mine")
    (out / "ways.csv").write_text("old")
    (out / ".hidden").write_text("hidden")
    with pytest.raises(ValueError, match=r"^.*book is not empty; --force \(force=True\) replaces"):
        write_book(GAME, out)
    assert {*bytes_in(out)} == {"mine.txt", "ways.csv", ".hidden"}
    assert write_book(GAME, out, force=True) == [*quick, "index.html"]
    found = bytes_in(out)
    assert {*found} == {*quick, "index.html", "mine.txt", ".hidden"}
    assert found["mine.txt"] == b"mine"
    assert found["ways.csv"].startswith(b"throws,")
    assert [*tmp_path.iterdir()] == [out]


def test_a_book_is_replaced_by_that_of_another_game(tmp_path):
    threes = set(write_book(Threes(1), tmp_path / "book"))
    (tmp_path / "book" / "mine.csv").write_text("mine")
    box = set(write_book(ShutTheBox(2), tmp_path / "book", force=True))
    assert threes - box
    assert {*bytes_in(tmp_path / "book")} == box | {"mine.csv"}


def test_where_a_file_has_to_be_there_must_be_no_folder(quick, tmp_path):
    (tmp_path / "index.html").mkdir()
    with pytest.raises(ValueError, match=r"index.html is a folder, where a file of the book has to be"):
        write_book(GAME, tmp_path, force=True)
    assert [path.name for path in tmp_path.iterdir()] == ["index.html"]


def test_a_folder_is_the_same_by_any_name(quick, tmp_path):
    (tmp_path / "ways.csv").write_text("old")
    with pytest.raises(ValueError, match="is not empty"):
        write_book(GAME, tmp_path / "absent" / "..")
    with pytest.raises(ValueError, match="the folder to write into has no name"):
        write_book(GAME, "")


def test_a_folder_filled_by_another_meanwhile_is_left_alone(quick, tmp_path):
    def meddle(name):
        (tmp_path / "book").mkdir(exist_ok=True)
        (tmp_path / "book" / "ways.csv").write_text("old")

    with pytest.raises(OSError, match="not empty"):
        write_book(GAME, tmp_path / "book", progress=meddle)
    assert bytes_in(tmp_path / "book") == {"ways.csv": b"old"}


def test_a_book_that_is_killed_leaves_nothing(tmp_path):
    command = [Path(sys.executable).parent / "stb-gym", "book", "shut-the-box", "--out", "book"]
    writing = subprocess.Popen(command, cwd=tmp_path, stderr=subprocess.PIPE, text=True)
    until = time.monotonic() + PATIENCE
    while not [*tmp_path.glob(".stb-gym-*/book/*.csv")] and time.monotonic() < until:
        time.sleep(0.01)
    assert [path.name[:9] for path in tmp_path.iterdir()] == [".stb-gym-"]
    writing.terminate()
    writing.communicate(timeout=PATIENCE)
    assert writing.returncode == 143
    assert [*tmp_path.iterdir()] == []


@pytest.mark.parametrize("there", [True, False])
def test_what_a_killed_process_left_of_a_book_long_ago_is_removed(there, quick, tmp_path):
    out = tmp_path / "book"
    out.mkdir(exist_ok=there) if there else None
    left = (out if there else tmp_path) / ".stb-gym-abc"
    left.mkdir()
    os.utime(left, (0, 0))
    write_book(GAME, out)
    assert not left.exists()


def test_an_empty_folder_is_filled_and_hidden_files_do_not_count(quick, tmp_path, monkeypatch):
    (tmp_path / ".hidden").write_text("")
    monkeypatch.chdir(tmp_path)
    write_book(GAME, ".")
    assert {path.name for path in tmp_path.iterdir()} == {*quick, "index.html", ".hidden"}


def test_a_file_is_no_folder(quick, tmp_path):
    (tmp_path / "book").write_text("a file")
    for force in (False, True):
        with pytest.raises(ValueError, match=r"book is not a folder$"):
            write_book(GAME, tmp_path / "book", force=force)
    assert (tmp_path / "book").read_text() == "a file"


@pytest.mark.parametrize("error", [RuntimeError, KeyboardInterrupt])
@pytest.mark.parametrize("there", [False, True])
def test_a_picture_that_fails_leaves_nothing(quick, tmp_path, monkeypatch, error, there):
    def fails(picture):
        raise error("no ink")

    out = tmp_path / "book"
    if there:
        out.mkdir()
        (out / "strategies.csv").write_text("old")
    monkeypatch.setattr(Picture, "to_svg", fails)
    with pytest.raises(error, match="no ink"):
        write_book(GAME, out, force=True)
    assert [*tmp_path.rglob("*")] == ([out, out / "strategies.csv"] if there else [])
    assert not there or (out / "strategies.csv").read_text() == "old"


def test_the_book_appears_only_when_it_is_whole(quick, tmp_path):
    seen = []
    out = tmp_path / "book"
    write_book(GAME, out, progress=lambda name: seen.append((name, out.exists())))
    assert seen == [("strategies", False), ("ways", False), ("winning", False), ("index.html", False)]
    (tmp_path / "plain").mkdir()
    assert out.stat().st_mode == (tmp_path / "plain").stat().st_mode


def test_a_missing_package_is_explained_in_one_line(tmp_path):
    code = """
import sys
sys.modules["jinja2"] = None
import stb_gym, stb_gym.book
try:
    stb_gym.book.write_book(stb_gym.ShutTheBox(2), "book")
except ValueError as error:
    print(error)
"""
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert done.stdout.startswith("a book needs jinja2 (")
    assert done.stdout.endswith("): pip install 'stb-gym[tables]'\n")
    assert done.stdout.count("\n") == 1
    assert [*tmp_path.iterdir()] == []


@pytest.mark.parametrize(
    "game",
    [ShutTheBox(1), ShutTheBox(5, dice=3, faces=4, score="count"), ShutTheBox(3, dice=1, faces=2), Threes(2, faces=2)],
    ids=str,
)
def test_every_game_has_a_book(game, tmp_path):
    files = write_book(game, tmp_path / "book")
    assert {"strategies.csv", "scores.svg", "rounds.md", "frontier.svg"} < set(files)
    Page((tmp_path / "book" / "index.html").read_text())


def test_files_that_another_page_shows_stay(quick, tmp_path):
    page = '<a href="logo.png">, <a href="thesis.md">'.encode("latin-1") + b"\xff"
    for name, content in {"index.html": page, "logo.png": b"1", "thesis.md": b"2"}.items():
        (tmp_path / name).write_bytes(content)
    write_book(GAME, tmp_path, force=True)
    assert (tmp_path / "logo.png").read_bytes() == b"1"
    assert (tmp_path / "thesis.md").read_bytes() == b"2"
