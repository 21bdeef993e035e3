"""Run the short programs that show faults of other libraries, as the page of checks includes them."""

import runpy
from pathlib import Path

import pytest

FOUND = Path(__file__).parent / "found"
PRINTED = {
    "skrl_truncation": "return of the first episode: 0.00\nreturn of the first episode: 8.46\n",
    "tianshou_masks": "is_double=True: value of the next state 1\nis_double=False: value of the next state 100\n",
    "torchrl_lambda": "IndexError: ",
}


@pytest.mark.parametrize("name", sorted(path.stem for path in FOUND.glob("*.py")))
def test_faults_of_other_libraries(name, capsys):
    runpy.run_path(str(FOUND / f"{name}.py"))
    assert capsys.readouterr().out.startswith(PRINTED[name])
