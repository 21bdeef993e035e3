"""The page to look at a game with, in a real browser; `make browser` runs these tests."""
