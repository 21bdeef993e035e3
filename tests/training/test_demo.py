"""The demonstration: its first part needs the library alone, and its second says why it cannot be had."""

import subprocess
import sys

from filelock import FileLock

from training import demo, demo_ppo


def test_learners_without_a_network_come_close():
    table = demo.learned((1_000, 50_000))
    (random, biggest_first, *q_learning), (*_, early, afterstates), (*_, limit) = (
        table.columns[name].values for name in demo.LEARNERS
    )
    assert (round(random, 4), round(biggest_first, 4)) == (9.2613, 0.2157)
    assert q_learning[0] > q_learning[1] > afterstates > limit > 0
    assert early > afterstates


def test_the_first_part_starts_nothing_but_the_library():
    code = "import sys, training.demo; print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert "agents.limit" in loaded
    assert not {"torch", "tyro", "matplotlib", "filelock", "safetensors"} & set(loaded)


def test_without_torch_the_demo_says_what_is_missing(monkeypatch, capsys):
    monkeypatch.setattr(demo, "STEPS", (1_000,))
    monkeypatch.setitem(sys.modules, "training.demo_ppo", None)
    assert demo.main([]) == 0
    printed = capsys.readouterr().out
    assert printed.startswith("shut-the-box: perfect play leaves 11.157508444 points")
    assert "\nmasked PPO would follow, but needs training.demo_ppo: make demo TORCH=cpu" in printed


def test_a_demo_beside_another_is_one_line_and_status_2(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "runs" / "demo").mkdir(parents=True)
    with FileLock(tmp_path / "runs" / "demo" / ".lock"):
        assert demo_ppo.demo(demo.ENV) == 2
    assert capsys.readouterr().err == "training.demo: runs/demo is written to by another process\n"
