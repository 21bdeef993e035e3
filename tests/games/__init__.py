"""Tests of the games: rules, variants, drawings."""
