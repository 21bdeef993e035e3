"""A film of a run: which of its policies are seen, and that they meet the same dice."""

import numpy as np
import pytest
from PIL import Image

import training.train as training
from stb_gym import solve
from stb_gym.games.drawing import Canvas
from stb_gym.terminal import chooser, coach_alone, play
from tests import ROOT
from training import film
from training.run import Run

SMALL_PRESETS = ROOT / "tests" / "small_presets.toml"


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    folder = tmp_path_factory.mktemp("runs") / "afterstates-0"
    words = ["--presets", str(SMALL_PRESETS), "--tiles", "5", "--steps", "3000", "--out", str(folder)]
    assert training.main(["afterstates", *words]) == 0
    return Run.open(folder)


def said(run, steps, seed):
    """What stands below a film at the end of each turn."""
    coach, found = coach_alone(solve(run.game())), []
    for at in steps:
        dice = np.random.default_rng([seed, 0])
        found.append(play(f"afterstates after {at:,} steps", coach, chooser(coach, run.policies()[at], dice), dice).end)
    return found


@pytest.mark.parametrize("asked", [(), "second", "between"])
def test_policies_of_several_measurements_meet_the_same_dice(run, asked, monkeypatch, tmp_path):
    measured = list(run.policies())
    assert len(measured) > 3
    steps = {(): (), "second": (measured[1],), "between": (measured[1] + 1, measured[-1])}[asked]
    expected = {
        (): [measured[0], measured[1], measured[-1]],
        "second": [measured[1]],
        "between": [measured[2], measured[-1]],
    }[asked]
    words, write = [], Canvas.text
    monkeypatch.setattr(
        Canvas,
        "text",
        lambda canvas, x, y, text, *how, **more: words.append(text) or write(canvas, x, y, text, *how, **more),
    )
    out = tmp_path / "film.gif"
    flags = ["--steps", *map(str, steps)] if steps else []
    assert film.main([str(run.folder), *flags, "--seed", "3", "--out", str(out)]) == 0
    assert [text for text in words if " ends with " in text] == said(run, expected, 3)
    with Image.open(out) as gif:
        assert gif.n_frames > 2 * len(expected)


def test_a_film_that_cannot_be_made_is_refused_in_a_line(run, tmp_path, capsys):
    capsys.readouterr()
    for words, message in (
        ([str(tmp_path)], "is no run, or not a whole one"),
        (
            [str(run.folder), "--steps", "999999"],
            f"was measured up to {list(run.policies())[-1]:,} steps, not after 999,999",
        ),
        ([str(run.folder), "--seed", "-5"], "seed must be an integer from 0"),
        ([str(run.folder), "--out", str(tmp_path / "film.mp4")], "unknown file extension"),
    ):
        assert film.main(["--out", str(tmp_path / "film.gif"), *words]) == 2
        [line] = capsys.readouterr().err.splitlines()
        assert line.startswith("training.film: ")
        assert message in line
    assert not (tmp_path / "film.gif").exists()
