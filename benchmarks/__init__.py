"""How fast the library is, beside its peers on the same machine: `python -m benchmarks`.

- `timing`: rounds of ours, theirs, ours, theirs, ..., and the ratio within each round.
- `solving`: the exact solvers beside QuantEcon's backward induction, and the regret meter.
- `environments`: the environments beside those of Gymnasium and EnvPool.
- `learners`: the learners beside a tuned MaskablePPO of sb3-contrib.

QuantEcon and EnvPool come with `pip install --group bench`. A peer that is not installed is reported as missing.
"""
