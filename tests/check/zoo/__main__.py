"""Run the checks on all faults, or on those named by learner or key, and write docs/results/faults.csv."""

import sys

from tests.check.zoo.registry import FAULTS
from tests.check.zoo.table import NAMES, base, read, row, write

if __name__ == "__main__":
    wanted = sys.argv[1:] or [*NAMES.values()]
    chosen = [fault for fault in FAULTS if fault.key in wanted or NAMES[base(fault)] in wanted]
    found = {}
    for fault in chosen:
        found[fault.key] = row(fault)
        print(*found[fault.key].values(), sep="; ", flush=True)
    rows = {each["key"]: each for each in read()}
    write([rows.get(fault.key, {"key": fault.key}) | found.get(fault.key, {}) for fault in FAULTS])
