"""Tests, a file per room; `reference` is a second opinion that shares no code with the package."""
