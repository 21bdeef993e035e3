"""Settings with which each learner makes a few updates in 500 steps; stock agents of other libraries have none."""

SMALL = {
    "ppo": {"num_envs": 16, "num_steps": 4, "minibatches": 2, "epochs": 1, "width": 16},
    "dqn": {"num_envs": 16, "batch_size": 32, "warm_up": 64, "replay_size": 256, "target_period": 3, "width": 16},
    "fitted-q": {"num_envs": 16, "batch_size": 32, "warm_up": 64, "width": 16},
    "afterstates": {"num_envs": 16, "minibatches": 2, "width": 16},
    "q-learning": {"num_envs": 8},
    "tabular-afterstates": {"num_envs": 8},
    "monte-carlo": {"num_envs": 8},
    "certainty-equivalence": {"num_envs": 8},
    "sb3-ppo": {},
    "sb3-a2c": {},
    "sb3-dqn": {},
    "sb3-maskable-ppo": {},
    "sb3-maskable-ppo-tuned": {"num_envs": 8, "width": 32, "batch_size": 64},
}
