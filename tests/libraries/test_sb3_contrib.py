"""sb3-contrib: MaskablePPO asks for `action_masks`."""

import pytest
from sb3_contrib import MaskablePPO

from tests.libraries import IDS, measured


@pytest.mark.parametrize("name", IDS)
def test_first_line(name):
    model = MaskablePPO("MlpPolicy", name, n_steps=32, batch_size=32, seed=0, device="cpu").learn(64)
    assert measured(model.get_env(), model).illegal_mass == 0
