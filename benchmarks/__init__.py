"""How fast the package is, against peers that run side by side on the same machine: `python -m benchmarks`.

- `timing`: rounds of ours, theirs, ours, theirs, ..., and the ratio within each round.
- `solving`: the exact solver against QuantEcon's backward induction; `measuring`: the meter.
- `environments`: the environments against those of Gymnasium and EnvPool.
- `training`: masked PPO on the package's vector environment against the same on single environments.
- `studies`: the engines of studies, a pool and Ray, and what ten thousand planned runs cost.

Peers come with the extra `bench`; one that is not installed is reported as such. Used from a clone, with the extra
`lab`; not part of the installed package.
"""
