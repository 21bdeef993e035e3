"""Tests of what people see of the library, and of the files it writes."""
