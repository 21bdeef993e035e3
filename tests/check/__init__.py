"""Tests of exact checks of learning code."""

import pytest


def assert_passes(result):
    """Test that a check passed; if not, show its report."""
    assert result, result


def assert_named(result, words, lines=1):
    """Test that a check failed, and that one of the first lines of `likely` has these words."""
    assert not result, result
    assert any(words in fault for fault in result.likely[:lines]), result


def assert_refused(message, function, *arguments, **options):
    """Test that a call fails with a message that matches and is one line."""
    with pytest.raises((TypeError, ValueError), match=message) as caught:
        function(*arguments, **options)
    assert "\n" not in str(caught.value)
