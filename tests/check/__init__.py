"""Tests of exact checks of learning code."""


def assert_passes(result):
    """Test that a check passed; if not, show its report."""
    assert result, result


def assert_named(result, words, lines=1):
    """Test that a check failed, and that one of the first lines of `likely` has these words."""
    assert not result, result
    assert any(words in fault for fault in result.likely[:lines]), result
