"""What learns: masked PPO and masked DQN on stable-baselines3, over the package's own vector environment.

- `vec_env`: the vector environment as stable-baselines3 wants it.
- `ppo`, `dqn`: the algorithms and their settings.
- `networks`: what the networks see; `policy_array`: a network as a policy array, to be evaluated exactly.
- `config`: all that makes a learner, checked; `checkpoints`: weights on disk, loaded without executing anything.

Used from a clone (`python -m training.train ...`); not part of the installed package.
"""
