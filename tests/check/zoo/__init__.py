"""A zoo of faults: those that were found in public code, planted in small textbook learners.

`python -m tests.check.zoo` runs the checks on all of them and writes docs/results/faults.csv.
"""
