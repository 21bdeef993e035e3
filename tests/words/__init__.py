"""Tests of the description of games to people."""
