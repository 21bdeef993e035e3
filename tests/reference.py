"""The rules of Shut the Box and of Threes in plain Python with exact fractions: a second opinion for the tests.

Nothing here is shared with the package: the rules are written again from their words, on the standard library alone,
and every number comes from a recursion over the turn. A game says what can be thrown (`outcomes`), what the legal moves
are (`moves`), when the turn ends (`is_over`) and with how many points (`final_score`). A utility maps the final score
to the number to maximise. A policy maps a position and a roll with a legal move to the probability of each move.
"""

from collections import Counter
from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from itertools import combinations, product
from typing import Any

Tiles = tuple[int, ...]  # in ascending order
Box = tuple[frozenset[int], int]  # the open tiles, and how many dice are thrown next
Shutting = tuple[Tiles, int]  # the tiles to shut, and how many dice to throw next
Utility = Callable[[int], float | Fraction]
Best = Callable[[Iterable[Fraction]], Fraction]  # max or min
Policy = Callable[[Any, Any], dict[Any, float | Fraction]]


@cache
def throws(dice: int, faces: int, read: Callable[[Tiles], Hashable]) -> list[tuple[Any, Fraction]]:
    """Return every different result of throwing the dice, as `read` reads the faces, with its probability."""
    counts = Counter(read(roll) for roll in product(range(1, faces + 1), repeat=dice))
    return [(result, Fraction(count, faces**dice)) for result, count in sorted(counts.items())]


def in_order(numbers: Iterable[int]) -> Tiles:
    """Return the numbers in ascending order."""
    return tuple(sorted(numbers))


@cache
def sets_adding_up_to(total: int, tiles: frozenset[int]) -> list[Tiles]:
    """Return every set of distinct tiles that adds up to the total."""
    sizes = range(1, len(tiles) + 1)
    return [chosen for size in sizes for chosen in combinations(sorted(tiles), size) if sum(chosen) == total]


@dataclass(frozen=True)
class ShutTheBox:
    """Shut the Box; a position is (open tiles, dice to throw next), a move (tiles to shut, dice to throw after it).

    A roll is the sum of the dice, or the faces in ascending order where `match` looks at the single dice.
    """

    tiles: int = 9
    dice: int = 2
    faces: int = 6
    score: str = "sum"
    open: str | Tiles = "all"
    one_die: str = "never"
    one_die_forced: bool = False
    match: str = "sum"
    first_move: int | None = None
    ending_roll: int | None = None

    def start(self) -> Box:
        """Return the tiles that are open at the start, and all dice."""
        end = self.tiles + 1
        named = {"all": range(1, end), "odd": range(1, end, 2), "even": range(2, end, 2), "4-up": range(4, end)}
        return frozenset(named.get(self.open, self.open)), self.dice

    def positions(self) -> list[Box]:
        """Return the start, and every smaller set of open tiles with every number of dice allowed there."""
        tiles = self.start()[0]
        smaller = [frozenset(chosen) for size in range(len(tiles)) for chosen in combinations(sorted(tiles), size)]
        return [self.start(), *((left, dice) for left in smaller for dice in self.dice_next(left))]

    def dice_next(self, left: frozenset[int]) -> list[int]:
        """Return how many dice may be thrown after a move that leaves these tiles open."""
        if not left:
            return [0]
        one_die = {
            "never": False,
            "low-sum": sum(left) <= self.faces,
            "high-shut": max(left) <= self.faces,
            "any-time": True,
        }[self.one_die]
        if one_die and self.one_die_forced:
            return [1]
        return sorted({1, self.dice}) if one_die else [self.dice]

    def reading(self) -> Callable[[Tiles], Hashable]:
        """Return the function from the thrown faces to the roll."""
        return sum if self.match in ("sum", "two-at-most") else in_order

    def outcomes(self, position: Box) -> list[tuple[int | Tiles, Fraction]]:
        """Return each roll of the position's dice with its probability."""
        return throws(position[1], self.faces, self.reading())

    def moves(self, position: Box, roll: int | Tiles) -> list[tuple[Shutting, Box]]:
        """Return each set of tiles that may be shut, with each number of dice allowed after it; none ends the turn."""
        left_by = {chosen: position[0].difference(chosen) for chosen in self.sets_to_shut(position, roll)}
        return [((chosen, dice), (left, dice)) for chosen, left in left_by.items() for dice in self.dice_next(left)]

    def sets_to_shut(self, position: Box, roll: int | Tiles) -> list[Tiles]:
        """Return the sets that match; none on the ending roll, at the start only those with the first move's tile."""
        if self.ending_roll == (roll if self.reading() is sum else sum(roll)):
            return []
        sets = self.fitting_sets(position[0], roll)
        if self.first_move is None or position != self.start():
            return sets
        return [chosen for chosen in sets if self.first_move in chosen]

    def fitting_sets(self, tiles: frozenset[int], roll: int | Tiles) -> list[Tiles]:
        """Return each set of these tiles that matches the roll."""
        if self.match == "sum":
            return sets_adding_up_to(roll, tiles)
        if self.match == "two-at-most":
            return [chosen for chosen in sets_adding_up_to(roll, tiles) if len(chosen) <= 2]
        faces = {"one-tile": {(face,) for face in roll}, "faces-or-sum": {in_order(set(roll))}}[self.match]
        return sorted(chosen for chosen in faces | {(sum(roll),)} if tiles.issuperset(chosen))

    def is_over(self, position: Box) -> bool:
        """Return whether all tiles are shut."""
        return not position[0]

    def final_score(self, position: Box) -> int:
        """Return the sum or the number of the open tiles, or their digits in a row, read as one number."""
        return {"sum": sum, "count": len, "digits": digits}[self.score](position[0])


def digits(tiles: Iterable[int]) -> int:
    """Return the number that the tiles spell, lowest first; 0 for no tiles."""
    return int("".join(map(str, sorted(tiles))) or "0")


@dataclass(frozen=True)
class Threes:
    """Threes; a position is (points, dice left), a roll the faces in ascending order, a move how many dice to keep."""

    dice: int = 5
    faces: int = 6
    free_face: int = 3
    moon: bool = False

    def start(self) -> tuple[int, int]:
        """Return no points, and all dice."""
        return (0, self.dice)

    def positions(self) -> list[tuple[int, int]]:
        """Return every number of dice left with every total that the kept dice may have; and the end by the moon."""
        lefts = range(self.dice + 1)
        played = [(points, left) for left in lefts for points in range((self.dice - left) * self.faces + 1)]
        return [(-1, 0), *played] if self.moon else played

    def outcomes(self, position: tuple[int, int]) -> list[tuple[Tiles, Fraction]]:
        """Return each roll of the dice left with its probability."""
        return throws(position[1], self.faces, in_order)

    def moves(self, position: tuple[int, int], roll: Tiles) -> list[tuple[int, tuple[int, int]]]:
        """Return the moves, which keep the n dice worth least for n from one to all; the free face is worth nothing.

        If the first throw shows the highest face on all dice, the only move is the moon, a total of -1.
        """
        points, left = position
        if self.moon and position == self.start() and set(roll) == {self.faces}:
            return [(left, (-1, 0))]
        worths = sorted(0 if face == self.free_face else face for face in roll)
        return [(n, (points + sum(worths[:n]), left - n)) for n in range(1, left + 1)]

    def is_over(self, position: tuple[int, int]) -> bool:
        """Return whether no die is left."""
        return position[1] == 0

    def final_score(self, position: tuple[int, int]) -> int:
        """Return the total of the kept dice, or the -1 of the moon."""
        return position[0]


Game = ShutTheBox | Threes


def fewest(score: int) -> int:
    """Return the utility of the objective "score": fewer points are better."""
    return -score


def most(score: int) -> int:
    """Return the opposite, for the worst play."""
    return score


def shut(score: int) -> int:
    """Return the utility of the objective "shut": 1 for a score of zero or less."""
    return int(score <= 0)


@cache  # the same function for the same target, for the cache of `value`
def at_most(target: int) -> Utility:
    """Return the utility of the objective "at-most:target": 1 for a score of the target or less."""
    return lambda score: int(score <= target)


@cache
def value(game: Game, position: Any, utility: Utility, best: Best = max) -> Fraction:
    """Return the expected utility before the throw under best play (worst play with best=min)."""
    if game.is_over(position):
        return Fraction(utility(game.final_score(position)))
    return sum(chance * rolled_value(game, position, roll, utility, best) for roll, chance in game.outcomes(position))


def rolled_value(game: Game, position: Any, roll: Any, utility: Utility, best: Best = max) -> Fraction:
    """Return the expected utility after the throw: of the best move, or of the score here if there is no move."""
    values = move_values(game, position, roll, utility, best)
    return best(values.values()) if values else Fraction(utility(game.final_score(position)))


def move_values(game: Game, position: Any, roll: Any, utility: Utility, best: Best = max) -> dict[Any, Fraction]:
    """Return the expected utility of each legal move, with best play after it."""
    return {move: value(game, after, utility, best) for move, after in game.moves(position, roll)}


def policy_value(game: Game, policy: Policy, utility: Utility) -> Fraction | float:
    """Return the expected utility of a turn played by the policy."""
    return sum(chance * utility(score) for score, chance in score_distribution(game, policy).items())


def worst_score(game: Game) -> int:
    """Return the score of a turn that ends with an illegal move."""
    return max(map(game.final_score, game.positions()))


def score_distribution(game: Game, policy: Policy) -> dict[int, Fraction | float]:
    """Return the probability of each final score of a turn played by the policy, by score."""

    @cache
    def scores(position: Any) -> Counter:
        if game.is_over(position):
            return Counter({game.final_score(position): Fraction(1)})
        total = Counter()
        for roll, chance in game.outcomes(position):
            after = dict(game.moves(position, roll))
            if not after:
                total[game.final_score(position)] += chance
                continue
            for move, share in policy(position, roll).items():
                if move not in after:
                    total[worst_score(game)] += chance * share
                    continue
                for score, probability in scores(after[move]).items():
                    total[score] += chance * share * probability
        return total

    return dict(sorted(scores(game.start()).items()))


def uniform(game: Game) -> Policy:
    """Return the policy that plays every legal move with the same probability."""

    def policy(position: Any, roll: Any) -> dict[Any, Fraction]:
        moves = game.moves(position, roll)
        return {move: Fraction(1, len(moves)) for move, _ in moves}

    return policy


def least(game: ShutTheBox, key: Callable[[Tiles], Any]) -> Policy:
    """Return the policy of the move whose tiles have the least key; among equals the fewest dice next."""

    def policy(position: Box, roll: int | Tiles) -> dict[Shutting, Fraction]:
        moves = [move for move, _ in game.moves(position, roll)]
        return {min(moves, key=lambda move: (key(move[0]), move[1])): Fraction(1)}

    return policy


def biggest_first(game: ShutTheBox) -> Policy:
    """Play the move with the largest tile; among those the one with the largest second tile, and so on."""
    return least(game, lambda tiles: [-tile for tile in reversed(tiles)])


def fewest_tiles(game: ShutTheBox) -> Policy:
    """Play the move with the fewest tiles; among those the biggest first."""
    return least(game, lambda tiles: (len(tiles), [-tile for tile in reversed(tiles)]))


def most_tiles(game: ShutTheBox) -> Policy:
    """Play the move with the most tiles; among those the one whose tiles, in ascending order, come first."""
    return least(game, lambda tiles: (-len(tiles), tiles))


def lowest_first(game: ShutTheBox) -> Policy:
    """Play the move whose tiles, in ascending order, come first: 1 and 4 before 2 and 3, and both before 5."""
    return least(game, lambda tiles: tiles)


def one_to_four_first(game: ShutTheBox) -> Policy:
    """Play the move with the most tiles from one to four; among those the lowest first."""
    return least(game, lambda tiles: (-sum(tile <= 4 for tile in tiles), tiles))


def high_three_then_lowest(game: ShutTheBox) -> Policy:
    """Play a move with the highest tile of the box, else the second, else the third; among equals lowest first."""
    high = [game.tiles, game.tiles - 1, game.tiles - 2]
    return least(game, lambda tiles: ([tile not in tiles for tile in high], tiles))


@cache
def ways_to_shut(game: ShutTheBox, position: Box) -> Counter:
    """Return in how many ways the box can be shut in k throws, for each k: every throw and every move counts."""
    if game.is_over(position):
        return Counter({0: 1})
    total = Counter()
    read = game.reading()
    for faces in product(range(1, game.faces + 1), repeat=position[1]):
        for _, after in game.moves(position, read(faces)):
            for throws_left, ways in ways_to_shut(game, after).items():
                total[throws_left + 1] += ways
    return total


def most_ways(game: ShutTheBox) -> Policy:
    """Play the move that leaves the most ways to shut the box; among those the lowest first."""

    def policy(position: Box, roll: int | Tiles) -> dict[Shutting, Fraction]:
        ways = {move: ways_to_shut(game, after).total() for move, after in game.moves(position, roll)}
        return {first_best(ways): Fraction(1)}

    return policy


def perfect(game: Game, utility: Utility) -> Policy:
    """Play the move of the greatest expected utility; among equals the first."""
    return lambda position, roll: {first_best(move_values(game, position, roll, utility)): Fraction(1)}


@cache
def value_of_last_moves_at_random(game: Game, position: Any, best_moves: int, utility: Utility) -> Fraction:
    """Return the expected utility before the throw if so many moves are the best for this, and later ones random."""
    if game.is_over(position):
        return Fraction(utility(game.final_score(position)))
    total = Fraction(0)
    for roll, chance in game.outcomes(position):
        values = [
            value_of_last_moves_at_random(game, after, max(best_moves - 1, 0), utility)
            for _, after in game.moves(position, roll)
        ] or [Fraction(utility(game.final_score(position)))]
        total += chance * (max(values) if best_moves else sum(values) / len(values))
    return total


def greedy(game: Game, steps: int, utility: Utility) -> Policy:
    """Play the move that is best if the best moves follow until `steps` are made, and random ones after that."""

    def policy(position: Any, roll: Any) -> dict[Any, Fraction]:
        moves = game.moves(position, roll)
        values = {move: value_of_last_moves_at_random(game, after, steps - 1, utility) for move, after in moves}
        return {first_best(values): Fraction(1)}

    return policy


def first_best(values: dict[Any, Any]) -> Any:
    """Return the move of the greatest value; among equals the tiles that are lowest first, then the fewest dice."""
    return max(sorted(values), key=values.get)  # of equals, max takes the first


def threes_only(game: Threes) -> Policy:
    """Keep all dice of the free face; without one, the lowest die; on the moon all, as is the only move."""

    def policy(position: tuple[int, int], roll: Tiles) -> dict[int, Fraction]:
        fewest_legal = min(n for n, _ in game.moves(position, roll))
        return {max(fewest_legal, roll.count(game.free_face)): Fraction(1)}

    return policy


def take_all(position: tuple[int, int], roll: Tiles) -> dict[int, Fraction]:
    """Keep every die of the first throw."""
    return {len(roll): Fraction(1)}
