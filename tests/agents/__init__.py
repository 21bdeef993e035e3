"""Tests of the learners and their presets; these start torch."""
