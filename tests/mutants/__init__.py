"""How much the tests see: mistakes are planted in the library one at a time, and those that are caught are counted.

`mistakes` finds and samples them. `python -m tests.mutants` tries each in a copy of the checkout, adds to `results.tsv`
what caught it, and lists the survivors that `explained.toml` does not explain.

Neither mutmut nor cosmic-ray fits: mutmut skips functions with decorators, cosmic-ray runs one command for all mutants,
and neither changes axes, masks and seeds.
"""
