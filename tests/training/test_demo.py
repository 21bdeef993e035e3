"""Test that the demonstration prints a row for every agent, and the rows so far after an interrupt."""

import pytest

from training import demo


def rows(printed):
    """Return the cells of the table by agent."""
    table = printed.partition("exact regret\n")[2].partition("\n\n")[0]
    return {agent: cells for agent, *cells in map(str.split, table.splitlines())}


def test_agents_stand_beside_strategies_and_the_optimum(monkeypatch, capsys):
    monkeypatch.setattr(demo, "STEPS", {"certainty-equivalence": 200_000, "sb3-dqn": 64})
    assert demo.main([]) == 0
    printed = capsys.readouterr().out
    assert printed.startswith("Shut the Box with nine tiles: perfect play leaves 11.157508 points")
    agents = rows(printed)
    regrets = [float(agents[name][-1]) for name in ("certainty-equivalence", "biggest-first", "random", "sb3-dqn")]
    assert regrets == sorted(regrets)
    assert agents["random"] == ["9.26130"]
    assert int(agents["certainty-equivalence"][0].replace(",", "")) >= 200_000


@pytest.mark.parametrize("agents", [0, 2])
def test_an_interrupt_leaves_the_agents_so_far(agents, monkeypatch, capsys):
    def interrupted(name, _):
        if name == list(demo.STEPS)[agents]:
            raise KeyboardInterrupt
        return name

    monkeypatch.setattr(demo, "learned", interrupted)
    assert demo.main([]) == 130
    printed = capsys.readouterr()
    assert [*rows(printed.out)] == ["random", "biggest-first", *list(demo.STEPS)[:agents]]
    assert printed.err == "training.demo: interrupted\n"
