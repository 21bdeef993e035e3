"""Test that the demonstration prints a row for every agent."""

import pytest

from training import demo


@pytest.mark.nightly
def test_agents_and_strategies_are_printed_with_their_regrets(monkeypatch, capsys):
    monkeypatch.setattr(demo, "STEPS", {"certainty-equivalence": 100_000, "sb3-dqn": 64})
    assert demo.main([]) == 0
    printed = capsys.readouterr().out
    assert printed.startswith("Shut the Box with nine tiles: perfect play leaves 11.157508 points")
    table = printed.partition("exact regret\n")[2].partition("\n\n")[0]
    agents = {agent: cells for agent, *cells in map(str.split, table.splitlines())}
    regrets = [float(agents[name][-1]) for name in ("certainty-equivalence", "biggest-first", "random", "sb3-dqn")]
    assert regrets == sorted(regrets)
    assert agents["random"] == ["9.26130"]
    assert int(agents["certainty-equivalence"][0].replace(",", "")) >= 95_000
