"""Training in rounds: what is learned, that it goes on as if it had never been interrupted, and what is refused."""

import csv

import pytest
from safetensors.numpy import load_file

from agents.checkpoints import load_snapshot, save_snapshot
from agents.presets import read_presets
from stb_gym import ShutTheBox
from stb_gym.rounds import Round, RoundMeter, RoundVectorEnv, opponents_of
from tests import SMALL_PRESETS
from tests.training.faults import Killed, killed
from training import rounds
from training.round_run import RoundConfig, RoundTraining

TINY = ["--tiles", "3", "--dice", "1", "--faces", "3"]
BOX = ShutTheBox(tiles=3, dice=1, faces=3)


def command(out, algorithm="ppo", *words):
    fixed = ["--presets", str(SMALL_PRESETS), "--measurements", "8", "--checkpoint-seconds", "0", "--out", str(out)]
    return [algorithm, *TINY, *fixed, *words]


def measured(folder):
    """The measurements without the time that they took."""
    rows = csv.DictReader((folder / "curve.csv").read_text().splitlines())
    return [{name: float(told) for name, told in row.items() if name != "seconds"} for row in rows]


def only(out):
    (folder,) = out.iterdir()
    return folder


@pytest.mark.parametrize("opponents", ["naive", "fictitious", "league"])
def test_self_play_learns_the_equilibrium_of_a_small_round(opponents, tmp_path):
    assert rounds.main(command(tmp_path, "ppo", "--opponents", opponents)) == 0
    folder = only(tmp_path)
    assert folder.name == f"ppo-three-tiles-2-players-{opponents}-0"
    first, *_, last = measured(folder)
    assert first["steps"] == 0
    assert first["gain"] > 0.01
    assert last["gain"] == max(last["gain_1"], last["gain_2"]) < 1e-9
    assert [last["wins_1"], last["wins_2"]] == pytest.approx(Round(BOX).solve().seats)
    assert last["gain_of_average"] > last["gain"]  # the first of the selves had learned nothing yet
    assert not (folder / "checkpoint.safetensors").exists()


def test_the_learner_plays_against_the_self_that_was_measured_last():
    presets = read_presets(SMALL_PRESETS)
    training = RoundTraining(RoundConfig(presets.config("ppo", presets.tasks["three-tiles"], "round"), 3, "naive"))
    learner, envs = training.learner, training.envs
    for steps in (0, 1024, 2048):
        learner.learn_until(steps)
        training.measure(0.0)
        plays = RoundMeter(envs).strategy(lambda seen, masks: learner.probabilities(seen, masks).argmax(axis=1))
        self_now = envs.round.evaluate([plays] * 3)
        assert (envs.opponents.fates == opponents_of(envs.round, "drawn", self_now).fates).all()
        assert training.measured[-1]["wins_3"] == self_now.seats[2]


@pytest.mark.parametrize("algorithm", ["ppo", "dqn", "afterstate-network"])
def test_learners_find_the_best_response_to_others(algorithm, tmp_path):
    assert rounds.main(command(tmp_path, algorithm, "--opponents", "random", "--players", "3", "--ties", "nobody")) == 0
    *_, last = measured(only(tmp_path))
    assert last["gain"] < 0.003
    best = RoundMeter(RoundVectorEnv(BOX, 1, 3, opponents="random", ties="nobody"))(lambda seen, masks: masks.argmax(1))
    for seat, (wins, gain) in enumerate(zip(best.seats, best.gains, strict=True), 1):
        assert last[f"wins_{seat}"] + last[f"gain_{seat}"] == pytest.approx(wins + gain)


@pytest.mark.parametrize(
    ("algorithm", "opponents"),
    [("ppo", "league"), ("dqn", "naive"), ("afterstate-network", "random")],
)
def test_a_training_that_is_killed_ends_as_if_it_had_not_been(algorithm, opponents, tmp_path):
    words = ["--opponents", opponents, "--steps", "2500"]
    assert rounds.main(command(tmp_path / "whole", algorithm, *words)) == 0
    for moment in (5, 12):
        with pytest.raises(Killed), killed(moment):
            rounds.main(command(tmp_path / "killed", algorithm, *words))
    assert (only(tmp_path / "killed") / "checkpoint.safetensors").exists()
    assert rounds.main(command(tmp_path / "killed", algorithm, *words)) == 0
    whole, again = only(tmp_path / "whole"), only(tmp_path / "killed")
    assert measured(again) == measured(whole)
    assert len(measured(whole)) > 3
    ours, theirs = (load_file(folder / "weights.safetensors") for folder in (again, whole))
    assert ours.keys() == theirs.keys()
    assert all((ours[name] == theirs[name]).all() for name in ours)
    assert sorted(path.name for path in again.iterdir()) == sorted(path.name for path in whole.iterdir())


def test_what_is_finished_is_not_made_again_and_seeds_are_summed_up(tmp_path, capsys, monkeypatch):
    words = ["--opponents", "naive", "random", "--steps", "1000", "--seeds", "0", "1"]
    assert rounds.main(command(tmp_path, "ppo", *words)) == 0
    told = capsys.readouterr().out
    heading, *lines = told.splitlines()
    assert heading.split()[-3:] == ["seeds", "steps", "minutes"]
    for line, opponents in zip(lines, ["naive", "random"], strict=True):
        last = [measured(tmp_path / f"ppo-three-tiles-2-players-{opponents}-{seed}")[-1] for seed in (0, 1)]
        gains = [each["gain"] for each in last]
        assert gains[0] != gains[1]
        average = [f"{sum(each['gain_of_average'] for each in last) / 2:.6f}"] if opponents == "naive" else []
        numbers = [f"{number:.6f}" for number in (sum(gains) / 2, *sorted(gains))]
        assert line.split()[:-1] == ["2", opponents, *numbers, *average, "2", "1,024"]
    monkeypatch.setattr(rounds, "_train", None)
    assert rounds.main(command(tmp_path, "ppo", *words)) == 0
    assert capsys.readouterr().out == told


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--opponents", "nobody"], "unknown strategy of shut-the-box 'nobody'"),
        (["--players", "1"], "players must be an integer from 2 to 101, not 1"),
        (["--measurements", "0"], "measurements must be an integer from 1 to 1000000, not 0"),
        (["--variant", "long"], "unknown variant of ppo"),
        (["--env", "stb_gym/ShutTheBoxShut-v0"], "in a round it is a win that is rewarded, not 'shut'"),
        (["--ties", "all"], "unknown ties 'all': allowed are split, all-win, nobody"),
        (["--seeds"], "players, opponents and seeds each need a value, or there is nothing to train"),
        (["--checkpoint-seconds", "nan"], "checkpoint-seconds must be a number, 0 or more, not nan"),
    ],
)
def test_what_is_not_allowed_is_said_in_a_line(words, message, tmp_path, capsys):
    assert rounds.main([*command(tmp_path), *words]) == 2
    said = capsys.readouterr().err
    assert said.startswith("training.rounds: ")
    assert message in said
    assert said.count("\n") == 1


def test_a_folder_of_another_training_is_refused(tmp_path, capsys):
    assert rounds.main(command(tmp_path, "ppo", "--steps", "500", "--opponents", "random")) == 0
    assert rounds.main(command(tmp_path, "ppo", "--steps", "600", "--opponents", "random")) == 2
    assert "holds another training: remove it, or name another folder by --out" in capsys.readouterr().err


@pytest.mark.parametrize("opponents", ["naive", "random"])
def test_a_damaged_file_is_told_of_with_its_folder(opponents, tmp_path, capsys):
    words = command(tmp_path, "afterstate-network", "--opponents", opponents, "--steps", "500")
    with pytest.raises(Killed), killed(8):
        rounds.main(words)
    checkpoint, curve = only(tmp_path) / "checkpoint.safetensors", only(tmp_path) / "curve.csv"
    snapshot = load_snapshot(checkpoint)

    def refused():
        assert rounds.main(words) == 2
        return f"{only(tmp_path)} holds a damaged file: " in capsys.readouterr().err

    for name in ("measured", "learner.random", "selves.count"):
        if name in snapshot:
            save_snapshot(checkpoint, {entry: held for entry, held in snapshot.items() if entry != name})
            assert refused()
    save_snapshot(checkpoint, {**snapshot, "measured": [1]})
    assert refused()
    checkpoint.unlink()
    whole = curve.read_text()
    for damaged in (whole.rpartition(",")[0] + "\n", whole.replace("steps", "stops"), whole[:-1]):
        curve.write_text(damaged)
        assert refused()
