"""How fast the package is, against peers that run side by side on the same machine, and what it survives.

`python -m benchmarks` times it:

- `timing`: rounds of ours, theirs, ours, theirs, ..., and the ratio within each round.
- `solving`: the exact solver against QuantEcon's backward induction; `measuring`: the meter.
- `environments`: the environments against those of Gymnasium and EnvPool.
- `training`: masked PPO on the package's vector environment against the same on single environments.
- `studies`: the engines of studies, a pool and Ray, and what ten thousand planned runs cost.

`python -m benchmarks.soak` disturbs it, for an hour or as long as one likes:

- `soak`: the works, the play that goes on meanwhile, and the tables; `plays`: perfect play in vector environments.
- `disturbing`: processes that are killed, disks that are full, folders that are read-only; `surviving`: rounds of work
  that is disturbed, and what is counted of it.

Peers come with the extra `bench`; one that is not installed is reported as such. Used from a clone, with the extra
`lab`; not part of the installed package.
"""
