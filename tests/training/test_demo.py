"""The demonstration: a row for every agent, with tiny budgets, and a table after an interrupt."""

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


def test_an_interrupt_prints_the_agents_so_far(monkeypatch, capsys):
    def interrupted(name, *_):
        if name == "ppo":
            raise KeyboardInterrupt
        return demo.Row(name, 64, 1.0, 0.5)

    monkeypatch.setattr(demo, "learned", interrupted)
    assert demo.main([]) == 130
    assert [*rows(capsys.readouterr().out)] == ["random", "biggest-first", *list(demo.STEPS)[:3]]
