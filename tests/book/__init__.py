"""Tests of the book of a game."""
