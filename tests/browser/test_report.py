"""The report of runs on every screen: nothing sticks out, and its pictures are as light as the page."""

import io
import subprocess
import sys

import numpy as np
import pytest
from PIL import Image

from tests import ROOT

MAKE = """
import sys
from pathlib import Path
from tests.training.fake_runs import fake_runs
from training.compare import main
folder = Path(sys.argv[1])
sys.exit(main([*map(str, fake_runs(folder / "runs")), "--out", str(folder)]))
"""


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    """Write a report of three runs in another process, so that this one needs no torch."""
    folder = tmp_path_factory.mktemp("report")
    subprocess.run([sys.executable, "-c", MAKE, str(folder)], cwd=ROOT, check=True, capture_output=True)
    return {"report": (folder / "report.html").as_uri()}


@pytest.fixture
def report(visitor):
    visitor.page.goto(visitor.pages["report"])
    return visitor


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_it_is_readable_and_pictures_are_as_light_as_the_page(report, scheme):
    report.page.emulate_media(color_scheme=scheme)
    report.look()
    shown = Image.open(io.BytesIO(report.page.get_by_alt_text("Regret against steps").screenshot())).convert("RGB")
    brightness = np.median(np.asarray(shown, int))
    assert (brightness > 240) == (scheme == "light")
    assert (brightness < 60) == (scheme == "dark")


def test_wide_tables_scroll_inside_the_page(report):
    table = report.page.get_by_role("region", name="Agents and strategies")
    wide = "box => box.scrollWidth - box.clientWidth"
    if report.page.viewport_size["width"] > 1000:
        assert table.evaluate(wide) == 0
        return
    assert table.evaluate(wide) > 0
    table.focus()
    report.page.keyboard.press("ArrowRight")
    report.page.wait_for_function("box => box.scrollLeft > 0", arg=table.element_handle())
