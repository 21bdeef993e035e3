"""The tutorials of other libraries, for fewer steps than their readers make."""

import pytest

from tests.tutorials import curve_of


@pytest.mark.parametrize(("name", "steps"), [("with_torchrl", 8192), ("with_tianshou", 4000), ("with_rllib", 8000)])
def test_they_learn(name, steps, capsys):
    curve = curve_of(name, capsys, steps=steps)
    assert curve[0][0] == 0
    assert curve[-1][0] == steps
    assert curve[-1][1] < curve[0][1] / 2
