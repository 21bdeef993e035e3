"""Test that the code of the README and of the site runs, and that it prints the figures on the pages."""
