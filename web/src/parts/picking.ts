// Choose moves by tiles on the board. The picked tiles leave some moves; once they determine one, it is made. This
// needs no rules: a move takes the tiles that are open before it and not after it.

import { useSignal } from "@preact/signals";
import { useLayoutEffect } from "preact/hooks";
import { pairsOf, rollsAt } from "../data/game";
import { useSession } from "../session";

export interface Picking {
  picked: number[];
  pick: (tile: number) => void;
  why: (tile: number) => string; // returns why a tile cannot be picked, "" if it can
  refused: string; // why the last tile could not be picked
}

interface Choice extends Picking {
  meant: number[]; // the pairs that take all picked tiles
}

// Pick tiles at a state; `asleep` is the reason why no tile can be picked if the state is null.
export function usePicking(
  afterstate: number,
  state: number | null,
  asleep: string,
  take: (pair: number) => void,
): Choice | null {
  const { game } = useSession();
  const nothing = { afterstate, state, tiles: [] as number[], refused: "" };
  const selection = useSignal(nothing);
  useLayoutEffect(() => {
    selection.value = nothing; // also after a return to this state
  }, [afterstate, state]);
  const part = game.parts.find(({ listed }) => listed);
  if (!part) return null;
  const here = part.of[afterstate] as number[];
  const taken = (pair: number) => here.filter((tile) => !(part.of[game.next[pair]] as number[]).includes(tile));
  const taking = (tiles: number[]) =>
    state === null ? [] : pairsOf(game, state).filter((pair) => tiles.every((tile) => taken(pair).includes(tile)));
  const same = selection.value.afterstate === afterstate && selection.value.state === state;
  const picked = same ? selection.value.tiles : [];
  const why = (tile: number) => {
    if (!here.includes(tile)) return `Tile ${tile} is shut.`;
    if (state === null) return asleep;
    if (picked.includes(tile) || taking([...picked, tile]).length) return "";
    const roll = rollsAt(game, afterstate).words[state - game.stateStart[afterstate]];
    return picked.length
      ? `No move with roll ${roll} takes tile ${tile} together with ${picked.join(" and ")}.`
      : `No move with roll ${roll} takes tile ${tile}.`;
  };
  const pick = (tile: number) => {
    const reason = why(tile);
    const tiles = picked.includes(tile) ? picked.filter((other) => other !== tile) : [...picked, tile];
    const meant = taking(tiles);
    if (reason) selection.value = { afterstate, state, tiles: picked, refused: reason };
    else if (meant.length === 1 && taken(meant[0]).length === tiles.length) take(meant[0]);
    else selection.value = { afterstate, state, tiles, refused: "" };
  };
  return { picked, pick, why, refused: same ? selection.value.refused : "", meant: taking(picked) };
}
