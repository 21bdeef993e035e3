"""Tests, laid out like the library; `reference` is a second opinion that shares no code with the package."""

from pathlib import Path

ROOT = Path(__file__).parent.parent
PATIENCE = 600  # seconds that tests wait for what comes at once, as the machine may be busy
