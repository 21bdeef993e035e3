"""Tests of boxes too large for tables."""
