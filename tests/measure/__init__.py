"""Tests of what measures play by playing."""
