"""Experiments: scripts that make tables of the documentation.

- `leaderboard`: the saved policies, measured exactly, as a page.
- `departures`: what single changes of an algorithm are worth.

Run one with `python -m training.experiments.NAME`.
"""
