"""Experiments: scripts that make tables of the documentation.

- `departures`: the effect of single changes of an algorithm.
- `hardness`: whether measures of hardness predict regrets.
- `diagnoses`: which part of the regret of an agent dominates; `rest`: what its last part consists of.
- `planning`: how the regret of planners falls with simulations; `throws`: what the samples hold.
- `mistakes`: which mistakes of agents cost most.
- `language_model`: how well a small language model learns from games in words.

Run one with `python -m training.experiments.NAME`.
"""
