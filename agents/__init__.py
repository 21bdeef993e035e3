"""What learns: masked PPO, DQN and QR-DQN on stable-baselines3, and tabular learners, over the package's vector env.

- `learner`: what a training asks of any learner.
- `ppo`, `dqn`, `qrdqn`, `tabular`: the algorithms and their settings.
- `networks`: what the networks see; `vec_env`: the vector environment as stable-baselines3 wants it; `replay`: the
  replay buffer; `node_learner`: what the learners on stable-baselines3 share.
- `policy_array`: a learner as arrays over nodes, to be evaluated exactly.
- `config`: all that makes a learner, checked; `presets`: the settings in `presets.toml`, by algorithm and task.
- `checkpoints`: learners on disk, loaded without executing anything.

Used from a clone (`python -m training.train ...`); not part of the installed package.
"""
