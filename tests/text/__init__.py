"""Test `stb_gym.text`: questions, answers and their grades."""
