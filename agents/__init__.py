"""The learners: masked PPO, DQN and QR-DQN on stable-baselines3, two tabular ones, and stable-baselines3's own.

- `learner`: the protocol of a learner, which is all that a training knows of it.
- `ppo`, `dqn`, `qrdqn`, `tabular`: the algorithms and their settings; `stock`: stable-baselines3's own, unchanged.
- `networks`: their networks and what these see; `vec_env`: the package's vector environment as stable-baselines3 wants
  it; `replay`: the replay buffer; `node_learner`: what the learners over nodes share, `stable_baselines`: what they
  share with the stock ones.
- `policy_array`: a learner's policy as arrays over nodes, to be evaluated exactly.
- `config`: everything needed to make a learner, checked; `presets`: the settings in `presets.toml`, by algorithm and
  task; `budgets`: those of them that follow the number of steps.
- `checkpoints`: learners on disk; loading one executes no code from the file.

Used from a clone (`python -m training.train ...`); not part of the installed package.
"""
