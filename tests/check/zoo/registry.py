"""The faults of the zoo: each is a textbook learner of which one piece is replaced."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Fault:
    """A planted fault.

    Attributes:
        key: its name.
        family: what it is about.
        source: where it was found.
        learner: the class with the fault.
        words: what a report that names it says; one of these is enough. Chosen by a person who read the reports.
    """

    key: str
    family: str
    source: str
    learner: type
    words: tuple[str, ...]


FAULTS: list[Fault] = []


def fault(key, family, source, *words):
    """Return a decorator that registers a class as the fault of this name."""

    def register(learner):
        FAULTS.append(Fault(key, family, source, learner, words))
        return learner

    return register
