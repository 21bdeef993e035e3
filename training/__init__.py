"""What one runs: `python -m training.train`, `.evaluate`, `.report` and `.demo`, from the root of a clone.

- `run`: a run's folder, written and read.
- `train`: trains a learner and measures its exact regret on the way; `evaluate` measures it again from its weights.
- `compare`, `report`, `plots`: tables, pictures and one page of HTML from runs; `results`: the README's table.
- `demo`: all of it in two minutes.
"""
