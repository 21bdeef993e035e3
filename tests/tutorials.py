"""Runs a tutorial as its reader would, but for fewer steps, and reads the curve that it prints."""

import re
import runpy

from tests import ROOT

FOLDER = ROOT / "docs" / "tutorials"
LINE = re.compile(r"^ *([\d,]+) steps: regret ([\d.]+)$", re.MULTILINE)


def curve_of(name, capsys, **arguments):
    """Return [(steps, regret)] as `main` of a tutorial prints them."""
    runpy.run_path(str(FOLDER / f"{name}.py"))["main"](**arguments)
    return [(int(steps.replace(",", "")), float(regret)) for steps, regret in LINE.findall(capsys.readouterr().out)]
