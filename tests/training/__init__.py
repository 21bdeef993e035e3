"""Tests of training, studies and reports; these start torch."""
