"""What can be read off the source of a house of packages: who imports whom, and what it asks."""

import ast
import re
from collections.abc import Callable, Iterator
from functools import cached_property
from pathlib import Path

GAMES = {"ShutTheBox", "Threes"}
NAMES = {"shut-the-box", "threes"}


def _calls(node: ast.AST, name: str) -> bool:
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == name


class House:
    """The modules of some packages under a folder.

    Args:
        root: the folder.
        packages: their names; imports of others are not looked at.
        library: that of them whose sub-packages are rooms of their own.
    """

    def __init__(self, root: Path, packages: tuple[str, ...], library: str):
        self.library = library
        paths = sorted(path for package in packages for path in (root / package).rglob("*.py"))
        self.paths = {".".join(path.relative_to(root).with_suffix("").parts): path for path in paths}
        self.paths = {module.removesuffix(".__init__"): path for module, path in self.paths.items()}

    @cached_property
    def trees(self) -> dict[str, ast.Module]:
        """The syntax of every module, read when something is asked of it: not when tests are only collected."""
        return {module: ast.parse(path.read_text()) for module, path in self.paths.items()}

    @cached_property
    def imports(self) -> dict[str, set[str]]:
        """By module the modules and packages it imports, wherever in it that stands."""
        return {module: set(self._imported(module)) - {module} for module in self.trees}

    def _imported(self, module: str) -> Iterator[str]:
        for name, parts in imported(self.trees[module], self._package(module)):
            for target in [f"{name}.{part}" for part in parts] or [name]:
                if found := self._nearest(target):
                    yield found

    def _package(self, module: str) -> str:
        return module if self.paths[module].stem == "__init__" else module.rpartition(".")[0]

    def _nearest(self, target: str) -> str:
        """The module that a dotted name is, or is in."""
        while target and target not in self.paths:
            target = target.rpartition(".")[0]
        return target

    def room(self, module: str) -> str:
        """The sub-package of the library or the other package that a module belongs to; `X.__init__` is its own."""
        package, *inside = module.split(".")
        if package != self.library:
            return package
        return f"{package}.{inside[0]}" if inside else f"{package}.__init__"

    @cached_property
    def rooms(self) -> dict[str, set[str]]:
        """By room the rooms that its modules import."""
        found: dict[str, set[str]] = {self.room(module): set() for module in self.paths}
        for module, others in self.imports.items():
            found[self.room(module)] |= {self.room(other) for other in others} - {self.room(module)}
        return found

    def callers(self, name: str) -> set[str]:
        """The modules that call a function by this bare name."""
        return {module for module, tree in self.trees.items() for node in ast.walk(tree) if _calls(node, name)}

    def unnamed(self) -> list[str]:
        """The modules and sub-packages that the docstring of their package does not name."""
        return [module for module in self.paths if "." in module and not self._is_named(module)]

    def _is_named(self, module: str) -> bool:
        package, _, name = module.rpartition(".")
        page = ast.get_docstring(self.trees[package]) if package in self.trees else None
        return name.startswith("__") or re.search(rf"`(?:[\w.]*\.)?{name}(?:\.py|/)?`", page or "") is not None

    def questions(self, apart_from: str) -> list[str]:
        """Where it is asked which game it is, outside of a sub-package."""
        return [
            f"{module}:{node.lineno}"
            for module, tree in self.trees.items()
            if f"{module}.".startswith(f"{apart_from}.") is False
            for node in ast.walk(tree)
            if asks_which_game(node)
        ]


def imported(tree: ast.AST, package: str = "") -> Iterator[tuple[str, list[str]]]:
    """Every (module, names from it) that is imported; relative imports are those of a module of the package."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom):
            above = package.split(".")[: len(package.split(".")) - node.level + 1] if node.level else []
            yield ".".join([*above, *([node.module] if node.module else [])]), [name.name for name in node.names]
        elif isinstance(node, ast.Import):
            yield from ((name.name, []) for name in node.names)


def circle(arrows: dict[str, set[str]]) -> list[str]:
    """One circle of arrows, if there is one: each leads to the next, the last to the first."""
    done: set[str] = set()

    def search(here: str, way: list[str]) -> list[str]:
        if here in way:
            return way[way.index(here) :]
        if here in done:
            return []
        for after in sorted(arrows[here]):
            if found := search(after, [*way, here]):
                return found
        done.add(here)
        return []

    return next(filter(None, (search(each, []) for each in sorted(arrows))), [])


def asks_which_game(node: ast.AST) -> bool:
    """Whether something compares a game, looks its attributes up, or chooses by its name."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
        match node.func.id, node.args:
            case (("isinstance" | "issubclass"), [_, kinds]):
                return _any(kinds, _is_game_class)
            case "hasattr", [game, *_]:
                return _is_called(game, "game")
            case "getattr", [game, _, _]:
                return _is_called(game, "game")
    if isinstance(node, ast.Compare):
        sides = [node.left, *node.comparators]
        one_of = isinstance(node.ops[0], ast.In | ast.NotIn)
        named = (
            isinstance(node.left, ast.Attribute) and node.left.attr == "name" and _is_called(node.left.value, "game")
        )
        moves = _is_text(node.left) and any(_is_called(side, "move") for side in node.comparators)
        return (one_of and (named or moves)) or any(
            _any(side, _is_game_class) or _any(side, _is_game_name) for side in sides
        )
    if isinstance(node, ast.Dict):
        return any(key is not None and (_any(key, _is_game_class) or _is_game_name(key)) for key in node.keys)
    return isinstance(node, ast.MatchClass | ast.MatchValue) and (
        _any(node, _is_game_class) or _any(node, _is_game_name)
    )


def _any(node: ast.AST, test: Callable[[ast.AST], bool]) -> bool:
    return any(map(test, ast.walk(node)))


def _is_game_class(node: ast.AST) -> bool:
    return (isinstance(node, ast.Name) and node.id in GAMES) or (isinstance(node, ast.Attribute) and node.attr in GAMES)


def _is_game_name(node: ast.AST) -> bool:
    return isinstance(node, ast.Constant) and node.value in NAMES


def _is_text(node: ast.AST) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str)


def _is_called(node: ast.AST, word: str) -> bool:
    """Whether the last name of an expression has a word in it, as `tables.game` has "game"."""
    name = node.id if isinstance(node, ast.Name) else node.attr if isinstance(node, ast.Attribute) else ""
    return word in name.lower()
