"""Tests of the README and of the pages of the site: what they say is run, and compared with what they promise."""
