"""The command `stb-gym`, outside of the package: importing that takes a second, in which ctrl-C may be pressed."""

import sys


def main() -> int:
    """Run the command and return its exit status, as `stb_gym.cli.main` does."""
    try:
        from stb_gym.cli import main as command

        return command()
    except KeyboardInterrupt:
        print("stb-gym: interrupted", file=sys.stderr)
        return 130
