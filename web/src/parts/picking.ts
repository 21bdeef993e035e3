// Moves by the tiles on the board: those that are picked say which moves are meant, and a move that is meant for certain
// is made. That takes no rule: a move is known by the tiles that are there before it and not after it.

import { useSignal } from "@preact/signals";
import { useLayoutEffect } from "preact/hooks";
import { pairsOf, rollsAt } from "../data/game";
import { useSession } from "../session";

export interface Picking {
  picked: number[];
  pick: (tile: number) => void;
  why: (tile: number) => string; // why a tile cannot be picked, "" if it can
  refused: string; // what was said of the tile that was tried last
}

interface Choice extends Picking {
  meant: number[]; // the pairs that take all tiles picked so far
}

// Pick tiles at a state; `asleep` says why nothing can be picked at an afterstate without one.
export function usePicking(
  afterstate: number,
  state: number | null,
  asleep: string,
  take: (pair: number) => void,
): Choice | null {
  const { game } = useSession();
  const nothing = { afterstate, state, tiles: [] as number[], refused: "" };
  const said = useSignal(nothing);
  useLayoutEffect(() => {
    said.value = nothing; // even if one comes back here
  }, [afterstate, state]);
  const part = game.parts.find(({ listed }) => listed);
  if (!part) return null;
  const here = part.of[afterstate] as number[];
  const taken = (pair: number) => here.filter((tile) => !(part.of[game.next[pair]] as number[]).includes(tile));
  const taking = (tiles: number[]) =>
    state === null ? [] : pairsOf(game, state).filter((pair) => tiles.every((tile) => taken(pair).includes(tile)));
  const same = said.value.afterstate === afterstate && said.value.state === state;
  const picked = same ? said.value.tiles : [];
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
    if (reason) said.value = { afterstate, state, tiles: picked, refused: reason };
    else if (meant.length === 1 && taken(meant[0]).length === tiles.length) take(meant[0]);
    else said.value = { afterstate, state, tiles, refused: "" };
  };
  return { picked, pick, why, refused: same ? said.value.refused : "", meant: taking(picked) };
}
