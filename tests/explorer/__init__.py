"""Tests of the page to look at a game with, but for those in a browser."""
