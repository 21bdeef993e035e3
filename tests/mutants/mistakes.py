"""The mistakes that can be planted in a module, and a sample of those of many modules."""

import ast
import builtins
import hashlib
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator
from copy import copy
from itertools import accumulate, pairwise
from pathlib import Path
from typing import Any, NamedTuple

from tests import ROOT

# A piece of a module, and what replaces it.
Change = tuple[ast.AST, ast.AST]

BOTH_WAYS: list[tuple[Any, Any]] = [
    (ast.Add, ast.Sub),
    (ast.LShift, ast.RShift),
    (ast.BitAnd, ast.BitOr),
    (ast.Lt, ast.LtE),
    (ast.Gt, ast.GtE),
    (ast.Eq, ast.NotEq),
    (ast.Is, ast.IsNot),
    (ast.In, ast.NotIn),
    ("all", "any"),
    ("min", "max"),
    ("minimum", "maximum"),
    ("argmin", "argmax"),
    ("zeros", "ones"),
    ("floor", "ceil"),
]
ONE_WAY = {
    ast.Mult: ast.Add,
    ast.Div: ast.Mult,
    ast.FloorDiv: ast.Mult,
    ast.Mod: ast.FloorDiv,
    ast.Pow: ast.Mult,
    ast.BitXor: ast.BitOr,
}
OTHER = {**dict(BOTH_WAYS), **{other: one for one, other in BOTH_WAYS}, **ONE_WAY}
SEEDED = {"seed", "self.seed", "default_rng", "SeedSequence", "manual_seed"}


def _with(node: ast.AST, **changes: Any) -> ast.AST:
    """Return a copy of a node with other fields."""
    other = copy(node)
    for name, value in changes.items():
        setattr(other, name, value)
    return other


def operators(node: ast.AST) -> Iterator[Change]:
    """`a + b` becomes `a - b`, unless texts, lists or types are added."""
    if isinstance(node, ast.BinOp | ast.AugAssign) and type(node.op) in OTHER:
        sides = [node.left, node.right] if isinstance(node, ast.BinOp) else [node.value]
        if all(_may_be_number(side) for side in sides):
            yield node, _with(node, op=OTHER[type(node.op)]())


def _may_be_number(node: ast.expr) -> bool:
    if isinstance(node, ast.Constant):
        return not isinstance(node.value, str | None)
    name = ast.unparse(node).split("[")[0].split(".")[-1].strip("_")
    is_class = (name[:1].isupper() and not name.isupper()) or isinstance(getattr(builtins, name, None), type)
    return not is_class and not isinstance(node, ast.JoinedStr | ast.List)


def bounds(node: ast.AST) -> Iterator[Change]:
    """`a < b` becomes `a <= b`, and `a == b` becomes `a != b`."""
    if isinstance(node, ast.Compare):
        for place, op in enumerate(node.ops):
            yield node, _with(node, ops=[*node.ops[:place], OTHER[type(op)](), *node.ops[place + 1 :]])


def signs(node: ast.AST) -> Iterator[Change]:
    """`-a` becomes `a`."""
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        yield node, node.operand


def axes(node: ast.AST) -> Iterator[Change]:
    """`axis=0` becomes `axis=1` and the other way round, `[:, None]` becomes `[None, :]`, and `a.T` becomes `a`."""
    match node:
        case ast.keyword(arg="axis" | "dim", value=(ast.Constant(value=int()) | ast.UnaryOp(op=ast.USub())) as axis):
            yield axis, ast.Constant(1 if ast.unparse(axis) == "0" else 0)
        case ast.Subscript(slice=ast.Tuple(elts=[first, second])) if ast.Slice in {type(first), type(second)}:
            yield node, _with(node, slice=ast.Tuple([second, first]))
        case ast.Attribute(attr="T"):
            yield node, node.value


def masks(node: ast.AST) -> Iterator[Change]:
    """`~mask` becomes `mask`, `where(mask, a, b)` becomes `where(mask, b, a)`, `any` becomes `all`, `max` `min`."""
    match node:
        case ast.UnaryOp(op=ast.Invert()):
            yield node, node.operand
        case ast.Call(func=ast.Attribute(attr="where"), args=[mask, one, other]):
            yield node, _with(node, args=[mask, other, one])
        case ast.Name(id=name) if name in OTHER:
            yield node, ast.Name(OTHER[name])
        case ast.Attribute(attr=name) if name in OTHER:
            yield node, _with(node, attr=OTHER[name])


def seeds(node: ast.AST) -> Iterator[Change]:
    """A seed becomes `None`, so it is lost, or 0, so it has no effect."""
    if isinstance(node, ast.Call):
        function = ast.unparse(node.func).split(".")[-1]
        arguments = [(function, value) for value in node.args] + [(each.arg, each.value) for each in node.keywords]
        for name, value in arguments:
            if name in SEEDED or ast.unparse(value) in SEEDED:
                yield from ((value, ast.Constant(lost)) for lost in (None, 0))


def constants(node: ast.AST) -> Iterator[Change]:
    """`n` becomes `n + 1`, and `True` becomes `False`."""
    if isinstance(node, ast.Constant) and isinstance(node.value, bool | int | float):
        yield node, ast.Constant(not node.value if isinstance(node.value, bool) else node.value + 1)


def arguments(node: ast.AST) -> Iterator[Change]:
    """`f(a, b)` becomes `f(b, a)`."""
    if isinstance(node, ast.Call):
        for place, (one, other) in enumerate(pairwise(node.args)):
            if not any(isinstance(each, ast.Starred) for each in (one, other)):
                yield node, _with(node, args=[*node.args[:place], other, one, *node.args[place + 2 :]])


def conditions(node: ast.AST) -> Iterator[Change]:
    """A condition always holds or never: of `if a`, of `b if a else c`, of `while a`; or `a and b` becomes `a`."""
    match node:
        case ast.If(test=test) | ast.IfExp(test=test):
            yield from ((test, ast.Constant(value)) for value in (True, False))
        case ast.While(test=test):
            yield test, ast.Constant(False)
        case ast.comprehension(ifs=ifs):
            yield from ((test, ast.Constant(True)) for test in ifs)
        case ast.BoolOp(values=values):
            for place in range(len(values)):
                rest = [*values[:place], *values[place + 1 :]]
                yield node, _with(node, values=rest) if len(rest) > 1 else rest[0]
        case ast.UnaryOp(op=ast.Not()):
            yield node, node.operand


def statements(node: ast.AST) -> Iterator[Change]:
    """A line is forgotten: a call, an addition, an error, an attribute or entry that is set."""
    match node:
        case (
            ast.Expr(value=ast.Call())
            | ast.AugAssign()
            | ast.Raise()
            | ast.Continue()
            | ast.Break()
            | ast.Assign(targets=[ast.Attribute() | ast.Subscript()])
        ):
            yield node, ast.Pass()


KINDS: dict[str, Callable[[ast.AST], Iterator[Change]]] = {
    kind.__name__: kind
    for kind in (operators, bounds, signs, axes, masks, seeds, constants, arguments, conditions, statements)
}


class Mutant(NamedTuple):
    """A mistake that can be planted: `source` replaces the bytes from `start` to `stop` of the module at `path`.

    Its name has the function, the old code and the new code. It does not change with the line.
    """

    kind: str
    path: str
    name: str
    line: int
    start: int
    stop: int
    source: str


def mutants_of(module_file: Path) -> Iterator[Mutant]:
    """Yield all mutants of a module, in the order of its source."""
    path, module = module_file.relative_to(ROOT).as_posix(), module_file.read_bytes()
    begins = [0, *accumulate(map(len, module.splitlines(keepends=True)))]
    names: Counter[str] = Counter()
    for place, node in _pieces(ast.parse(module), path):
        for kind, changes in KINDS.items():
            for old, new in changes(node):
                before, after = ast.unparse(old), ast.unparse(new)
                if before == after:  # both arguments that are swapped are the same
                    continue
                name = " ".join(f"{place} {kind}: {before} → {after}".split())
                names[name] += 1
                yield Mutant(
                    kind,
                    path,
                    name if names[name] == 1 else f"{name} ({names[name]})",
                    old.lineno,
                    begins[old.lineno - 1] + old.col_offset,
                    begins[old.end_lineno - 1] + old.end_col_offset,
                    after if isinstance(new, ast.stmt) else f"({after})",
                )


def _pieces(node: ast.AST, place: str) -> Iterator[tuple[str, ast.AST]]:
    """Yield the nodes in which a mistake can be planted, each with the function or class it is in.

    Annotations, decorators, f-strings and `strict=True` are left as they are.
    """
    for field, value in ast.iter_fields(node):
        for child in value if isinstance(value, list) else [value]:
            is_strict = isinstance(child, ast.keyword) and child.arg == "strict"
            if not isinstance(child, ast.AST) or isinstance(child, ast.JoinedStr) or is_strict:
                continue
            if field not in ("annotation", "returns", "decorator_list"):
                yield place, child
                is_named = isinstance(child, ast.FunctionDef | ast.ClassDef)
                yield from _pieces(child, f"{place}::{child.name}" if is_named else place)


def sample(mutants: Iterable[Mutant], number: int, seed: int) -> list[Mutant]:
    """Return equally many mutants of every kind, or all of a kind that has fewer, drawn by a hash of their names.

    So a mutant stays in the sample, or out of it, when other modules change, and a larger sample contains the smaller.
    """
    by_kind: dict[str, list[Mutant]] = defaultdict(list)
    for mutant in sorted(mutants, key=lambda each: hashlib.sha256(f"{seed} {each.name}".encode()).digest()):
        by_kind[mutant.kind].append(mutant)
    drawn: list[Mutant] = []
    for done, of_kind in enumerate(sorted(by_kind.values(), key=len)):
        drawn += of_kind[: (number - len(drawn)) // (len(by_kind) - done)]
    return sorted(drawn)
