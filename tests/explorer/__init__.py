"""Tests of the explorer page without a browser."""
