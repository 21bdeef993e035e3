"""Tests of exact checks of learning code."""
