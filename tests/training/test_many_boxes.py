"""One network for many boxes: what is measured, how it goes on, its table and its picture."""

import json
import re
from shutil import copy

import pytest
from matplotlib.image import imread
from training.rows import from_csv

from stb_gym import ShutTheBox, evaluate, solve, strategy
from tests import ROOT
from training import many_boxes
from training.many_boxes import AGENTS, Row, boxes_table, planned

SMALL = [
    "--boxes",
    "5",
    "1",
    "6",
    "2",
    "--large",
    "8",
    "2",
    "--dice",
    "2",
    "1",
    "--steps",
    "300",
    "--brief",
    "100",
    "--seeds",
    "0",
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("boxes")
    assert many_boxes.main([str(folder), *SMALL]) == 0
    return folder


def rows_in(folder):
    return from_csv((folder / "many-boxes.csv").read_text(), Row)


def test_every_agent_is_measured_on_every_box(folder):
    rows = rows_in(folder)
    boxes = {(5, 1): AGENTS, (6, 2): AGENTS, (8, 2): ("rule of thumb", "shared")}
    assert [(row.tiles, row.dice, row.agent) for row in rows] == [(*box, a) for box in boxes for a in boxes[box]]
    assert {(row.shared_steps, row.steps) for row in rows} == {(0, 0), (300, 0), (300, 100), (0, 100), (0, 300)}
    assert {(row.shared_dice, row.shared_steps) for row in rows} == {("", 0), ("1 2", 300)}
    for row in rows:
        assert row.optimum == pytest.approx(solve(ShutTheBox(tiles=row.tiles, dice=row.dice)).value)
    regrets = {(row.tiles, row.agent): row.regret for row in rows}
    box = ShutTheBox(tiles=6)
    thumbs = [evaluate(box, strategy(box, name)).regret for name in ("biggest-first", "fewest-then-biggest")]
    assert regrets[6, "rule of thumb"] == pytest.approx(min(thumbs), abs=1e-9)
    assert len({regret for (tiles, _), regret in regrets.items() if tiles == 6}) == len(AGENTS)


def test_what_is_missing_is_measured_and_nothing_else(folder, tmp_path, monkeypatch, capsys):
    text = (folder / "many-boxes.csv").read_text()
    (tmp_path / "many-boxes.csv").write_text("".join(text.splitlines(keepends=True)[:-6]))
    many_boxes._shared.cache_clear()
    assert many_boxes.main([str(tmp_path), *SMALL]) == 0
    assert (tmp_path / "many-boxes.csv").read_text() == text
    monkeypatch.delattr(many_boxes, "trained")
    capsys.readouterr()
    assert many_boxes.main([str(tmp_path), *SMALL, "--json"]) == 0
    assert [Row(**row) for row in json.loads(capsys.readouterr().out)] == rows_in(folder)


def test_the_table_has_means_over_seeds_and_the_picture_is_drawn(folder):
    rows = [Row(9, 2, agent, seed, "1", 5, 5, 10.0, 0.1 + seed / 5) for agent in AGENTS for seed in (0, 1)]
    rows += [Row(8, 2, "shared", 0, "1", 5, 0, 10.0, 0.5)]
    small, large = map(list, zip(*(column.cells() for column in boxes_table(rows).columns.values()), strict=True))
    assert small == ["9", "2", "10.000", *["2.00%"] * len(AGENTS)]
    assert large == ["8", "2", "10.000", *("5.00%" if agent == "shared" else "" for agent in AGENTS)]
    assert imread(folder / "many-boxes.png")[..., :3].std() > 0.05


def test_the_page_has_the_table_that_its_command_prints(tmp_path, monkeypatch, capsys):
    page = (ROOT / "docs" / "agents.md").read_text()
    [words] = re.findall(r"^python -m training.many_boxes docs/results(.*)$", page, re.MULTILINE)
    copy(ROOT / "docs" / "results" / "many-boxes.csv", tmp_path)
    monkeypatch.delattr(many_boxes, "trained")
    assert many_boxes.main([str(tmp_path), *words.split()]) == 0
    assert capsys.readouterr().out in page


def test_a_rule_of_thumb_is_measured_once():
    agents = [row.agent for row in planned(many_boxes.Arguments(folder=None))]
    assert agents.count("rule of thumb") * 3 == agents.count("shared")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--boxes", "7", "1"], "tiles of a box with 1 dice must be an integer from 1 to 6"),
        (["--dice", "5"], "dice must be an integer from 1 to 4"),
        (["--brief", "0"], "steps must be"),
        (["--steps", "0"], "steps must be"),
        (["--seeds", "-1"], "seed must be"),
    ],
)
def test_what_is_not_allowed_is_said_in_one_line(words, said, tmp_path, capsys):
    assert many_boxes.main([str(tmp_path), *words]) == 2
    error = capsys.readouterr().err
    assert said in error
    assert error.count("\n") == 1
    assert not list(tmp_path.iterdir())


def test_a_damaged_file_is_named(tmp_path, capsys):
    (tmp_path / "many-boxes.csv").write_text("tiles,dice\n1")
    assert many_boxes.main([str(tmp_path), *SMALL]) == 2
    assert "many-boxes.csv" in capsys.readouterr().err
