"""Tests of one turn, computed exactly."""
