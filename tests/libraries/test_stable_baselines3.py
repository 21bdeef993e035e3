"""stable-baselines3: models made from an id, on environments and on the vector environment."""

import pytest
from stable_baselines3 import PPO

from tests.libraries import IDS, measured


@pytest.mark.parametrize("name", IDS)
def test_first_line(name):
    model = PPO("MlpPolicy", name, n_steps=32, batch_size=32, seed=0, device="cpu").learn(64)
    assert measured(model.get_env(), model).regret > 0
