// Moves by the tiles on the board: those that are picked say which moves are meant, and a move that is meant for certain
// is made. That takes no rule: a move is known by the tiles that are there before it and not after it.

import { useSignal } from "@preact/signals";
import { useLayoutEffect } from "preact/hooks";
import { edgesOf, rollsAt } from "../data/game";
import { useSession } from "../session";

export interface Picking {
  picked: number[];
  pick: (tile: number) => void;
  why: (tile: number) => string; // why a tile cannot be picked, "" if it can
  refused: string; // what was said of the tile that was tried last
}

interface Choice extends Picking {
  meant: number[]; // the edges that take all tiles picked so far
}

// Pick tiles at a node; `asleep` says why nothing can be picked at a state without one.
export function usePicking(
  state: number,
  node: number | null,
  asleep: string,
  take: (edge: number) => void,
): Choice | null {
  const { game } = useSession();
  const nothing = { state, node, tiles: [] as number[], refused: "" };
  const said = useSignal(nothing);
  useLayoutEffect(() => {
    said.value = nothing; // even if one comes back here
  }, [state, node]);
  const part = game.parts.find(({ listed }) => listed);
  if (!part) return null;
  const here = part.of[state] as number[];
  const taken = (edge: number) => here.filter((tile) => !(part.of[game.next[edge]] as number[]).includes(tile));
  const taking = (tiles: number[]) =>
    node === null ? [] : edgesOf(game, node).filter((edge) => tiles.every((tile) => taken(edge).includes(tile)));
  const same = said.value.state === state && said.value.node === node;
  const picked = same ? said.value.tiles : [];
  const why = (tile: number) => {
    if (!here.includes(tile)) return `Tile ${tile} is shut.`;
    if (node === null) return asleep;
    if (picked.includes(tile) || taking([...picked, tile]).length) return "";
    const roll = rollsAt(game, state).words[node - game.nodeStart[state]];
    return picked.length
      ? `No move with roll ${roll} takes tile ${tile} together with ${picked.join(" and ")}.`
      : `No move with roll ${roll} takes tile ${tile}.`;
  };
  const pick = (tile: number) => {
    const reason = why(tile);
    const tiles = picked.includes(tile) ? picked.filter((other) => other !== tile) : [...picked, tile];
    const meant = taking(tiles);
    if (reason) said.value = { state, node, tiles: picked, refused: reason };
    else if (meant.length === 1 && taken(meant[0]).length === tiles.length) take(meant[0]);
    else said.value = { state, node, tiles, refused: "" };
  };
  return { picked, pick, why, refused: same ? said.value.refused : "", meant: taking(picked) };
}
