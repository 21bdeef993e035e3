"""The protocol exact-8: eight tasks, two budgets, ten seeds, and one number for an agent.

`tasks` has the tasks, `sweep` trains and measures an agent on them, and `score` makes the number of its results.
"""
