"""Run the tutorials that need only the libraries of the training code, and test properties of all tutorials."""

import ast
import re
from importlib.util import find_spec

import pytest

import stb_gym
from tests.docs.pages import README, blocks_of
from tests.tutorials import FOLDER, curve_of

pytestmark = pytest.mark.slow

TUTORIALS = sorted(FOLDER.glob("*.py"))
PAGE = (FOLDER / "README.md").read_text()
COMMANDS = {
    "chat_endpoint": "python docs/tutorials/chat_endpoint.py --url ",
    "smollm2": "python docs/tutorials/smollm2.py --questions ",
    "trainers": "trainers.for_trl()",
    "with_mctx": "python docs/tutorials/with_mctx.py --simulations ",
    "with_verifiers": "PYTHONPATH=docs/tutorials vf-eval with_verifiers -n ",
}


@pytest.mark.parametrize("path", TUTORIALS, ids=lambda path: path.stem)
def test_docstring_and_page_have_the_command(path):
    text = path.read_text()
    command = COMMANDS.get(path.stem, f"python docs/tutorials/{path.name} --steps ")
    assert command in ast.get_docstring(ast.parse(text))
    assert command in PAGE
    assert find_spec(path.stem) is None  # the script would shadow a module of the same name


@pytest.mark.nightly
def test_the_example_of_the_readme(capsys, tmp_path, monkeypatch):
    code, *_ = [block.code for block in blocks_of(README) if block.language == "python"]
    assert len(code.split("\n\n")) == 3
    assert len([line for line in code.splitlines() if line]) <= 12
    monkeypatch.chdir(tmp_path)
    exec(code.replace("4_096", "2_048"), {})
    *curve, mistake = capsys.readouterr().out.splitlines()
    assert [int(line.split()[0]) for line in curve] == [0, 512, 1024, 1536, 2048]
    assert re.match(r"open [\d,]+, roll \d+: (shut [\d,]+|an illegal action) instead of shut [\d,]+ loses ", mistake)
    assert (tmp_path / "best.npz").exists()


def test_numbers_on_the_price_of_masks():
    best = stb_gym.solve(stb_gym.ShutTheBox())
    page = (FOLDER / "price_of_masks.md").read_text()
    random = best.evaluate(stb_gym.strategy(stb_gym.ShutTheBox(), "random"))
    assert f"has a regret of {45 - best.value:.2f};" in page
    assert f"random legal play has {random.regret:.2f}," in page
    ends = re.findall(r"\| \w*PPO of .* \| [\d.]+, ([\d.]+) \|", PAGE)
    assert "a regret of {:.1f} without masks, of {:.2f} with them".format(*map(float, ends)) in page


@pytest.mark.nightly
def test_in_numpy(capsys):
    """Test that the printed regrets are those of the page, to the last digit."""
    curve = curve_of("in_numpy", capsys, steps=1_000_000)
    assert [steps for steps, _ in curve[:2] + curve[-1:]] == [0, 100_096, 1_000_000]
    [line] = [line for line in PAGE.splitlines() if "in_numpy.py --steps 1000000" in line]
    assert line.endswith(f"| {curve[0][1]:.4f}, {curve[-1][1]:.4f} |")


def test_in_cleanrl_style(capsys):
    curve = curve_of("in_cleanrl_style", capsys, steps=6144)
    assert [steps for steps, _ in curve] == [0, 6144]
    assert curve[-1][1] < 2 < curve[0][1]


@pytest.mark.nightly
def test_with_stable_baselines3(capsys, tmp_path):
    curve = curve_of("with_stable_baselines3", capsys, steps=2048, folder=tmp_path)
    assert [steps for steps, _ in curve] == [0, 2048] * 2
    plain, masked = curve[:2], curve[2:]
    assert plain[0][1] > masked[0][1] > 2 * masked[1][1]
    assert {path.name for path in tmp_path.iterdir()} == {"PPO.npz", "MaskablePPO.npz"}
