"""Tests of the learners that see observations and masks alone."""
