"""Experiments: scripts that make tables of the documentation.

- `departures`: what single changes of an algorithm are worth.
- `hardness`: whether measures of hardness predict regrets.
- `diagnoses`: which part of the regret of an agent dominates.

Run one with `python -m training.experiments.NAME`.
"""
