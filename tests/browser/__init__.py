"""Tests of the explorer page in a browser: run them by `make browser`."""
