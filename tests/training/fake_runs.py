"""Write folders of runs from policies, without training."""

import json

import pandas as pd

from agents.presets import configure
from stb_gym import ShutTheBox, evaluate, save_policy, strategy
from stb_gym.measure import save_policies
from training.run import FORMAT

GAME = ShutTheBox(tiles=5)
ENV = "stb_gym/ShutTheBox-v0"
MEASURED = ("illegal_mass", "value", "agreement", "agreement_by_visits", "shut_probability")


def fake_run(folder, policies, algorithm="q-learning", made=None, **options):
    """Write a run on five tiles. Its policies after no, half and all of its steps are the strategies of these names.

    It made the steps of its budget, or `made`.
    """
    half = (made or options.get("steps", 2000)) // 2
    saved = {half * at: strategy(GAME, name) for at, name in enumerate(policies)}
    rows = []
    for steps, policy in saved.items():
        evaluation = evaluate(GAME, policy)
        numbers = {"regret": evaluation.regret} | {name: getattr(evaluation, name) for name in MEASURED}
        rows.append({"steps": steps, "seconds": steps / 100, **numbers, "train/loss": 0.5})
    _write(folder, rows, algorithm, **options)
    save_policy(folder / "policy.npz", GAME, policy)
    save_policies(folder / "policies.npz", GAME, saved)
    return folder


def fake_runs(folder):
    """Write two seeds of one agent and one of another."""
    return [
        fake_run(folder / "first-0", ["worst", "lowest-first", "biggest-first"], seed=0),
        fake_run(folder / "first-1", ["worst", "biggest-first", "optimal-shut"], seed=1),
        fake_run(folder / "second", ["worst", "lowest-first", "optimal-score"], "tabular-afterstates"),
    ]


def fake_round(folder, gains):
    """Write a run in rounds of two players whose largest gain is measured after 0, 1000, 2000 ... steps."""
    rows = [{"steps": 1000 * at, "gain": gain, "exploitability": gain * 1.5} for at, gain in enumerate(gains)]
    rows = [row | {"seconds": 60.0} for row in rows]
    _write(folder, rows, "ppo", opponents="league", players=2)
    return folder


def _write(folder, rows, algorithm, **options):
    """Write the configuration and the curve of a run of 2000 steps."""
    folder.mkdir(parents=True)
    config = configure(algorithm, ENV, {"tiles": 5}, **{"steps": 2000, **options})
    (folder / "config.json").write_text(json.dumps({"format": FORMAT, **config.to_json()}))
    pd.DataFrame(rows).to_csv(folder / "curve.csv", index=False)
