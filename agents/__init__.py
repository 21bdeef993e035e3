"""The learners: masked PPO and DQN, a network of afterstates, tabular ones, the limit, and stable-baselines3's own.

- `learner`: the protocol of a learner, which is all that a training knows of it.
- `ppo`, `dqn`, `afterstate_network`: the algorithms, each to be read from top to bottom; `batches`, `replay`,
  `returns`, `luck`, `outlook`: what they learn from.
- `playing`: a vector environment as they play it; `rows`: equal rows of a batch, computed once; `networks`,
  `optimizers`: perceptrons with layer normalisation, and what changes their weights; `masked_categorical`, `products`:
  legal actions alone.
- `tabular`: Q-learning and afterstates; `limit`: how well one could play who has seen the same rolls.
- `stock`: agents of stable-baselines3 as they are, and tuned by settings alone; `stable_baselines`: as learners.
- `many_boxes`: boxes of many sizes and dice as one environment, which a network of afterstates may learn at once.
- `self_play`: the selves of a learner, which are its opponents in rounds.
- `policy_array`: a learner's policy as arrays over nodes, to be evaluated exactly.
- `config`: everything needed to make a learner, checked; `presets`: the settings in `presets.toml`, by algorithm and
  task; `budgets`: those of them that follow the number of steps.
- `checkpoints`: learners on disk; loading one executes no code from the file; `snapshots`: what is read is checked.

Used from a clone (`python -m training.train ...`); not part of the installed package.
"""
