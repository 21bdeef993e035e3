"""The kinds of mistakes: what a slip of the pen, or of thought, makes of a piece of source."""

import ast
from collections.abc import Callable, Iterator
from copy import copy
from typing import Any

# A piece of a module, and what it becomes.
Change = tuple[ast.AST, ast.AST]

ARITHMETIC: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Add,
    ast.Div: ast.Mult,
    ast.FloorDiv: ast.Mult,
    ast.Mod: ast.FloorDiv,
    ast.Pow: ast.Mult,
    ast.LShift: ast.RShift,
    ast.RShift: ast.LShift,
    ast.BitAnd: ast.BitOr,
    ast.BitOr: ast.BitAnd,
    ast.BitXor: ast.BitOr,
}
COMPARISONS: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
}
PAIRS = ("all any", "min max", "minimum maximum", "argmin argmax", "zeros ones", "floor ceil")
TWINS = {name: other for pair in map(str.split, PAIRS) for name, other in (pair, pair[::-1])}
BUILTIN = {"bool", "bytes", "dict", "float", "int", "list", "set", "str", "tuple"}
SEEDED = {"default_rng", "SeedSequence", "manual_seed"}


def _with(node: ast.AST, **changes: Any) -> ast.AST:
    """A copy of a piece in which something is different."""
    other = copy(node)
    for name, value in changes.items():
        setattr(other, name, value)
    return other


def operators(node: ast.AST) -> Iterator[Change]:
    """`a + b` becomes `a - b`; texts and types, which know one operator alone, are left out."""
    if isinstance(node, ast.BinOp | ast.AugAssign) and type(node.op) in ARITHMETIC:
        sides = [node.left, node.right] if isinstance(node, ast.BinOp) else [node.value]
        if not any(isinstance(side, ast.JoinedStr | ast.List) or _is_text(side) or _is_type(side) for side in sides):
            yield node, _with(node, op=ARITHMETIC[type(node.op)]())


def _is_text(node: ast.AST) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str | None)


def _is_type(node: ast.AST) -> bool:
    """Whether it is named like a class, or one of Python's own."""
    name = ast.unparse(node).split("[")[0].split(".")[-1].strip("_")
    return (name[:1].isupper() and not name.isupper()) or name in BUILTIN


def bounds(node: ast.AST) -> Iterator[Change]:
    """`a < b` becomes `a <= b`, and `a == b` becomes `a != b`."""
    if isinstance(node, ast.Compare):
        for place, op in enumerate(node.ops):
            yield node, _with(node, ops=[*node.ops[:place], COMPARISONS[type(op)](), *node.ops[place + 1 :]])


def signs(node: ast.AST) -> Iterator[Change]:
    """`-a` becomes `a`."""
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        yield node, node.operand


def axes(node: ast.AST) -> Iterator[Change]:
    """`axis=0` becomes `axis=1` and the other way round, `[:, None]` becomes `[None, :]`, and `a.T` becomes `a`."""
    match node:
        case ast.keyword(arg="axis" | "dim", value=ast.Constant(value=int(axis))):
            yield node.value, ast.Constant(0 if axis else 1)
        case ast.keyword(arg="axis" | "dim", value=ast.UnaryOp(op=ast.USub())):
            yield node.value, ast.Constant(0)
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
        case ast.Call(func=ast.Name(id=name)) if name in TWINS:
            yield node.func, ast.Name(TWINS[name])
        case ast.Call(func=ast.Attribute(attr=name)) | ast.Attribute(value=ast.Attribute(attr=name)) if name in TWINS:
            inner = node.func if isinstance(node, ast.Call) else node.value
            yield inner, _with(inner, attr=TWINS[name])


def seeds(node: ast.AST) -> Iterator[Change]:
    """A seed is lost: `seed` becomes `None`; or it counts for nothing: `default_rng(a)` becomes `default_rng(0)`."""
    match node:
        case ast.Call(args=args):
            for place, each in enumerate(args):
                for lost in _lost_seeds(node, each):
                    yield node, _with(node, args=[*args[:place], lost, *args[place + 1 :]])
        case ast.keyword(value=value):
            yield from ((value, lost) for lost in _lost_seeds(node, value))


def _lost_seeds(of: ast.Call | ast.keyword, value: ast.expr) -> Iterator[ast.AST]:
    name = ast.unparse(of.func).split(".")[-1] if isinstance(of, ast.Call) else of.arg
    if name in {"seed", *SEEDED} or ast.unparse(value) in ("seed", "self.seed"):
        yield from (ast.Constant(None), ast.Constant(0))


def constants(node: ast.AST) -> Iterator[Change]:
    """`n` becomes `n + 1`, and `True` becomes `False`."""
    if isinstance(node, ast.Constant) and isinstance(node.value, bool | int | float):
        yield node, ast.Constant(not node.value if isinstance(node.value, bool) else node.value + 1)


def arguments(node: ast.AST) -> Iterator[Change]:
    """`f(a, b)` becomes `f(b, a)`."""
    if isinstance(node, ast.Call):
        for place, (one, other) in enumerate(zip(node.args, node.args[1:], strict=False)):
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
    """A line is forgotten: a call, an addition, a refusal, a change of an attribute or of an entry."""
    match node:
        case ast.Expr(value=ast.Call()) | ast.AugAssign() | ast.Raise() | ast.Continue() | ast.Break():
            yield node, ast.Pass()
        case ast.Assign(targets=[ast.Attribute() | ast.Subscript()]):
            yield node, ast.Pass()


KINDS: dict[str, Callable[[ast.AST], Iterator[Change]]] = {
    kind.__name__: kind
    for kind in (operators, bounds, signs, axes, masks, seeds, constants, arguments, conditions, statements)
}
