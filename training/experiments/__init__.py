"""Experiments: scripts that make the pictures, films and tables of the documentation.

- `film`: the policies of a run at several measurements play the same dice.
- `mistakes`: a picture of where the remaining regret of policies lies.
- `leaderboard`: the saved policies, measured exactly, as a page.
- `departures`: what single changes of an algorithm are worth.

Run one with `python -m training.experiments.NAME`.
"""
