"""Learners that see observations and masks alone, as anybody's would, and know no game.

- `rows`: equal rows of a batch, computed once.
- `playing`: a vector environment as a learner plays it, however episodes begin anew.
- `networks`: multilayer perceptrons with layer normalisation, and what they see of an observation.
- `batches`: what a rollout teaches, by distinct rows and pairs of a row and an action.
- `ppo`: masked PPO, to be read from top to bottom.
- `dqn`: masked DQN and QR-DQN, to be read from top to bottom; `replay`: the positions and transitions it has seen.
- `counting`: the limit, which counts what it sees and solves the game that the counts describe.
"""
