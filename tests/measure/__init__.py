"""Test the measurement of agents."""
