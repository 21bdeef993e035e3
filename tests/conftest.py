"""Processes that the tests start import the checkout that is tested, wherever the package was installed from."""

import os

from tests import ROOT

os.environ["PYTHONPATH"] = str(ROOT)
