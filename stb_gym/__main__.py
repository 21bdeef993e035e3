"""The command without its script: `python -m stb_gym`."""

import sys

from stb_gym.cli import main

if __name__ == "__main__":
    sys.exit(main())
