"""The commands of the laboratory: `python -m training.train`, `.evaluate`, `.report`, `.study`, `.merge`, ...

- `train`: trains a learner and measures its regret meanwhile, exactly or, where positions are too many, by turns with
  the exact loss of every choice; `evaluate`: measures it again from its weights.
- `rounds`: trains a learner in rounds of several players, against its selves or others, and measures what every seat
  could gain by a best response; `round_run`: such a training, and its folder.
- `run`, `run_writer`: reading and writing the folder of a run; `rows`: dataclasses as CSV; `logs`: what a training logs
  as it goes.
- `arguments`: what the commands are asked; `--import MODULE` registers games of your own; `commands`: the names of
  trainings, and the commands that repeat them.
- `compare`, `report`, `plots`, `svg`, `sentences`: one page of HTML about runs of one game, its table, its pictures and
  what comes out in words; `mistakes`: a picture of where what they still lose lies; `film`: what a run had learned at
  several measurements plays the same dice.
- `study`: trains algorithms x tasks x seeds; `engines`: in processes of this machine or on a Ray cluster; `ledger`: the
  files of results; `statistics`: means over seeds and their intervals; `results`, `study_plots`: the table and the
  pictures; `pictured`: which agents these show, and what comes out in words; `merge`: those of several studies
  together; `keep`: the best policies; `leaderboard`: these and others, measured, as a page; `ladder`: one table and one
  picture of boxes of rising size.
- `many_boxes`: one network learns on many boxes, and is measured on others.
- `tune`: searches settings by exact regret; `search`: the search.
- `demo`: a demonstration without torch, in seconds; `demo_ppo`: its second part, in a minute.

They are run from the root of a clone.
"""
