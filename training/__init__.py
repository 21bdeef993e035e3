"""What one runs: `python -m training.train`, `.evaluate`, `.report`, `.study` and `.demo`, from the root of a clone.

- `train`: trains a learner and measures its exact regret on the way; `evaluate` measures it again from its weights.
- `run`, `run_writer`: a run's folder, read, and written so that an interrupted run goes on; `rows`: CSV.
- `compare`, `report`, `plots`: tables, pictures and one page of HTML from runs of one game.
- `study`: algorithms x tasks x seeds over the cores at hand; `ledger`: what came of them; `statistics`: their
  interquartile mean and its interval; `results`, `study_plots`: their table and pictures; `keep`: the best policies.
- `demo`: all of it in two minutes.
"""
