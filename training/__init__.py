"""The commands of the training code: `python -m training.train`, `.evaluate`, `.compare` and `.tune`.

Run them in a clone.

- `train`: trains an algorithm with one seed or several; `study`: trains several runs, in processes or on a Ray cluster;
  `run`: trains one run, and reads and writes its folder; `measurement`: measures a learner; `logs`: logs a run to
  TensorBoard and the like.
- `evaluate`: measures a run or a saved policy again, beside the named strategies.
- `compare`: makes a table and a page of curves of runs; `results`: their measurements as one table; `report`: the page.
- `tune`: searches settings.
- `commands`: what the commands share.
- `suite`: the protocol exact-8; `experiments`: scripts for the tables of the documentation; `demo`: a demonstration.
"""
