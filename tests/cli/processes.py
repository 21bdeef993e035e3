"""The command as a process of its own: what pip makes of pyproject.toml, though of the checkout that is tested."""

import sys
import tomllib

from tests import ROOT

ENTRY = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["scripts"]["stb-gym"]
MODULE, FUNCTION = ENTRY.split(":")
STB_GYM = [sys.executable, "-c", f"import sys; from {MODULE} import {FUNCTION}; sys.exit({FUNCTION}())"]
