"""A board of Shut the Box as text and as a picture: open tiles stand, shut ones lie flat."""

from stb_gym.games.drawing import (
    BAR,
    CHALK,
    DIE_PITCH,
    GOLD,
    INK,
    SUM_ROOM,
    Canvas,
    Picture,
    columns,
    draw_dice,
    empty_box,
)

OPEN_TILE, OPEN_EDGE, SHUT_TILE, SHUT_EDGE = (236, 201, 145), (255, 231, 190), (74, 49, 32), (104, 72, 49)
TILE_PITCH, TILE_WIDTH, OPEN_HEIGHT, SHUT_HEIGHT = 58, 52, 98, 44  # pixels
LONGEST_ROW, LONGEST_LINE = 12, 15  # tiles in a row of a picture, and in one of text, which fits into 80 columns


def board_text(tiles: int, held: int, shown: tuple[int, ...], points: int) -> str:
    """A board, the dice and the points: five lines, and three more for a second row of tiles."""
    rows = -(-tiles // LONGEST_LINE)
    a_row = -(-tiles // rows)
    lines = []
    for first in range(0, tiles, a_row):
        row = range(first, min(first + a_row, tiles))
        lines.append("".join("╭───╮" if held >> i & 1 else "     " for i in row))
        lines.append("".join(f"│{i + 1:^3}│" if held >> i & 1 else "     " for i in row))
        lines.append("".join("╰───╯" if held >> i & 1 else "╶───╴" for i in row))
    total = f" = {sum(shown)}" if len(shown) > 1 else ""
    score = f"points {points}" if held else "shut the box!"
    return "\n".join([*lines, f"dice   {' + '.join(map(str, shown)) or 'none'}{total}", score])


def board_picture(
    tiles: int, dice: int, held: int, shown: tuple[int, ...], told: str, score: str, just_shut: int = 0
) -> Picture:
    """A board and the dice as an image [height, width, 3] uint8; more than twelve tiles stand in two rows.

    Args:
        tiles: how many there are, open or shut.
        dice: the most that are thrown.
        held: the open tiles, as bits.
        shown: the faces of the dice just thrown; empty when nothing is thrown.
        told: what is said above the board.
        score: the points, as words.
        just_shut: the tiles that the last move has shut, as bits.
    """
    rows = -(-tiles // LONGEST_ROW)
    a_row = -(-tiles // rows)
    row_height = OPEN_HEIGHT + 14
    canvas = empty_box(max(a_row * TILE_PITCH, dice * DIE_PITCH + SUM_ROOM), rows * row_height + 6, told, score)
    places = columns(canvas.width / 2, a_row, TILE_PITCH)
    for i in range(tiles):
        foot = BAR + (i // a_row + 1) * row_height - 4
        _draw_tile(canvas, places[i % a_row], foot, i + 1, bool(held >> i & 1), bool(just_shut >> i & 1))
    draw_dice(canvas, shown, f"= {sum(shown)}" if len(shown) > 1 else "")
    return canvas.finished()


def _draw_tile(canvas: Canvas, x: float, foot: float, tile: int, is_open: bool, just_shut: bool) -> None:
    """A tile that stands, or one folded down: low and dark at the foot of its row, with a golden rim if just now."""
    if is_open:
        canvas.block(x, foot - OPEN_HEIGHT / 2, TILE_WIDTH, OPEN_HEIGHT, 7, OPEN_TILE, OPEN_EDGE)
        canvas.text(x, foot - OPEN_HEIGHT / 2, str(tile), 34, INK)
    else:
        canvas.block(x, foot - SHUT_HEIGHT / 2, TILE_WIDTH, SHUT_HEIGHT, 7, SHUT_TILE, GOLD if just_shut else SHUT_EDGE)
        canvas.text(x, foot - SHUT_HEIGHT / 2, str(tile), 24, GOLD if just_shut else CHALK)
