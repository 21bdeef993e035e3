"""How much the tests see: mistakes are planted in the library one at a time, and those that are caught are counted.

In the order to read:

- `mistakes`: the kinds of them; `planting`: all that a module can have, and a sample of those of many modules.
- `workshop`: a copy of the checkout, and pytest in it; `watching`: the plugin that pytest has there.
- `knowledge`: which tests run through which functions, and so are tried first.
- `__main__`: the command, `python -m tests.mutants`; what it found is kept in `results.tsv`, and why survivors change
  nothing is said in `explained.toml`.

The libraries of this trade do not fit: mutmut leaves functions with decorators alone, of which there are many here, and
cosmic-ray runs one command for every mutant, so all tests; neither knows the axes, masks and seeds of arrays.
"""
