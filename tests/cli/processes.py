"""Start the command in a process by its entry point in pyproject.toml, from this checkout."""

import sys
import tomllib

from tests import ROOT

ENTRY = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["scripts"]["stb-gym"]
MODULE, FUNCTION = ENTRY.split(":")
STB_GYM = [sys.executable, "-c", f"import sys; from {MODULE} import {FUNCTION}; sys.exit({FUNCTION}())"]
