"""Tests of rounds, matches and tournaments."""
