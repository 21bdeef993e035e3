"""Tests of the command `stb-gym`."""
