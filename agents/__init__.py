"""The learners, each in one file.

- `ppo`, `dqn`: textbook algorithms with masks.
- `fitted_q`: neural fitted Q iteration on the empirical model; `afterstates`: a network of afterstate values.
- `tabular`: Q-learning over actions or afterstates, and Monte Carlo of random play; `certainty_equivalence`: estimates
  the dice and plays optimally for the estimate; `baselines`: policies that need no learning.
- `planning`: tree search and one-step rollouts, which learn nothing.
- `sb3`: agents of stable-baselines3 and sb3-contrib, stock and tuned.
- `custom`: an agent of any other code as a learner.
- `self_play`: the opponents of a learner in rounds.
- `common`: the interface of a learner, and what the learners share.
- `registry`: the learners by name.
- `presets`: the named tasks and the configuration of a run; the settings are in `presets.toml`.

They are used from a clone (`python -m training.train ...`) and are not part of the installed package.
"""
