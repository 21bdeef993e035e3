"""A board of Shut the Box as text and as a picture: open tiles stand, shut ones lie flat."""

from stb_gym.games.drawing import (
    DIE_PITCH,
    INK,
    IVORY,
    TRAY_ROW,
    Picture,
    columns,
    draw_block,
    draw_die,
    empty_box,
    numeral,
    paint,
)

# A material is the colour of its face and the colour of its edge (red, green, blue).
OPEN_TILE = (236, 201, 145), (250, 226, 182)
SHUT_TILE = (84, 56, 37), (104, 72, 49)
FADED_INK = 146, 112, 84
TILE_PITCH, TILE_WIDTH, OPEN_HEIGHT, SHUT_HEIGHT = 58, 52, 112, 40  # pixels


def board_text(tiles: int, held: int, shown: tuple[int, ...], points: int) -> str:
    """A board, the dice and the points in five lines."""
    tops = "".join("╭───╮" if held >> i & 1 else "     " for i in range(tiles))
    numbers = "".join(f"│{i + 1:^3}│" if held >> i & 1 else "     " for i in range(tiles))
    feet = "".join("╰───╯" if held >> i & 1 else "╶───╴" for i in range(tiles))
    total = f" = {sum(shown)}" if len(shown) > 1 else ""
    score = f"points {points}" if held else "shut the box!"
    return "\n".join([tops, numbers, feet, f"dice   {' + '.join(map(str, shown)) or 'none'}{total}", score])


def board_picture(tiles: int, dice: int, held: int, shown: tuple[int, ...]) -> Picture:
    """A board and the dice as an image [height, width, 3] uint8."""
    canvas = empty_box(max(tiles * TILE_PITCH, dice * DIE_PITCH)).copy()
    for i, column in enumerate(columns(canvas, tiles, TILE_PITCH)):
        _draw_tile(canvas, column, i + 1, bool(held >> i & 1))
    for face, column in zip(shown, columns(canvas, len(shown), DIE_PITCH), strict=True):
        draw_die(canvas, column, face, IVORY)
    return canvas


def _draw_tile(canvas: Picture, column: int, tile: int, is_open: bool) -> None:
    """A tile that stands, or one folded down: low and dark at the foot of the tray."""
    if is_open:
        draw_block(canvas, TRAY_ROW, column, OPEN_HEIGHT, TILE_WIDTH, 7, OPEN_TILE)
        paint(canvas, TRAY_ROW, column, numeral(tile, 27), INK)
    else:
        row = TRAY_ROW + (OPEN_HEIGHT - SHUT_HEIGHT) // 2
        draw_block(canvas, row, column, SHUT_HEIGHT, TILE_WIDTH, 7, SHUT_TILE)
        paint(canvas, row, column, numeral(tile, 18), FADED_INK)
