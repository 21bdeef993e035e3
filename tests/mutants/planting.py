"""All mistakes that can be planted in a module, one at a time, and a sample of those of many modules."""

import ast
import hashlib
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from tests.mutants.mistakes import KINDS

SHOWN = 30  # characters of what is left as it is, on each side of a change


class Mutant(NamedTuple):
    """A mistake that can be planted.

    Attributes:
        kind: of the mistake, one of `KINDS`.
        place: path of the module, and the function or class in it.
        change: what becomes what; the second of the same in one place ends in (2), and so on.
        line: where the change begins.
        start: the first byte that is changed in the module, which is in UTF-8.
        stop: the first byte after.
        source: what stands there then.
    """

    kind: str
    place: str
    change: str
    line: int
    start: int
    stop: int
    source: str

    @property
    def path(self) -> str:
        """The module."""
        return self.place.split("::")[0]

    @property
    def name(self) -> str:
        """What it is known by, wherever the lines of the module have moved to."""
        return f"{self.place} {self.kind}: {self.change}"

    def planted_in(self, module: bytes) -> bytes:
        """The module with the mistake."""
        return module[: self.start] + self.source.encode() + module[self.stop :]


def mutants_of(path: str, module: bytes) -> Iterator[Mutant]:
    """All mutants of a module, in the order of its source."""
    begins = [0]
    for line in module.splitlines(keepends=True):
        begins.append(begins[-1] + len(line))
    met: Counter[str] = Counter()
    for scope, node in _pieces(ast.parse(module)):
        for kind, changes in KINDS.items():
            for old, new in changes(node):
                if ast.unparse(old) == ast.unparse(new):  # both arguments that are swapped are the same
                    continue
                place, change = "::".join([path, *scope]), _shown(ast.unparse(old), ast.unparse(new))
                met[place + change] += 1
                yield Mutant(
                    kind,
                    place,
                    change + f" ({met[place + change]})" * (met[place + change] > 1),
                    old.lineno,
                    begins[old.lineno - 1] + old.col_offset,
                    begins[old.end_lineno - 1] + old.end_col_offset,
                    ast.unparse(new) if isinstance(new, ast.stmt) else f"({ast.unparse(new)})",
                )


def _pieces(node: ast.AST, scope: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], ast.AST]]:
    """(Scope, piece) of all pieces that can go wrong."""
    for field, child in _children(node):
        if not _is_left_alone(field, child):
            yield scope, child
            named = isinstance(child, ast.FunctionDef | ast.ClassDef)
            yield from _pieces(child, (*scope, child.name) if named else scope)


def _is_left_alone(field: str, child: ast.AST) -> bool:
    """Whether it is an annotation, a decorator, a text, or a check of what cannot be otherwise."""
    checks = isinstance(child, ast.keyword) and child.arg == "strict"
    return checks or field in ("annotation", "returns", "decorator_list") or isinstance(child, ast.JoinedStr)


def _children(node: ast.AST) -> Iterator[tuple[str, ast.AST]]:
    for field, value in ast.iter_fields(node):
        for each in value if isinstance(value, list) else [value]:
            if isinstance(each, ast.AST):
                yield field, each


def _shown(old: str, new: str) -> str:
    """What becomes what, with a little of what is around it."""
    first = next((n for n, (a, b) in enumerate(zip(old, new, strict=False)) if a != b), min(len(old), len(new)))
    rest = min(len(old), len(new)) - first
    last = next((n for n in range(rest) if old[-1 - n] != new[-1 - n]), rest)
    begin, end = max(first - SHOWN, 0), max(last - SHOWN, 0)
    parts = ["…" * (begin > 0) + text[begin : len(text) - end] + "…" * (end > 0) for text in (old, new)]
    return " → ".join(" ".join(part.split()) for part in parts)


def sample(mutants: Iterable[Mutant], number: int, seed: int) -> list[Mutant]:
    """As many of every kind, or all of a kind that has fewer, drawn by their names.

    So a mutant stays in the sample, or out of it, when other modules change, and a larger sample has the smaller in it.
    """
    by_kind: dict[str, list[Mutant]] = defaultdict(list)
    for mutant in sorted(mutants, key=lambda each: hashlib.sha256(f"{seed} {each.name}".encode()).digest()):
        by_kind[mutant.kind].append(mutant)
    drawn: list[Mutant] = []
    for done, of_kind in enumerate(sorted(by_kind.values(), key=len)):
        drawn += of_kind[: (number - len(drawn)) // (len(by_kind) - done)]
    return sorted(drawn, key=lambda each: (each.path, each.start, each.name))
