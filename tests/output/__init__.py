"""Test console output and files."""
