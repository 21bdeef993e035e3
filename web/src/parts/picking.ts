// Moves by the tiles on the board: those that are picked say which moves are meant, and a move that is meant for certain
// is made. That takes no rule: a move is known by the tiles that are there before it and not after it.

import { useSignal } from "@preact/signals";
import { edgesOf } from "../data/game";
import { useSession } from "../session";

export interface Picking {
  picked: number[];
  pick: (tile: number) => void;
}

interface Choice extends Picking {
  meant: number[]; // the edges that take all tiles picked so far
}

export function usePicking(node: number | null, take: (edge: number) => void): Choice | null {
  const { game } = useSession();
  const said = useSignal<{ node: number | null; tiles: number[] }>({ node, tiles: [] });
  const part = game.parts.find(({ listed }) => listed);
  if (!part || node === null) return null;
  const here = part.of[game.nodeState[node]] as number[];
  const taken = (edge: number) => here.filter((tile) => !(part.of[game.next[edge]] as number[]).includes(tile));
  const taking = (tiles: number[]) =>
    edgesOf(game, node).filter((edge) => tiles.every((tile) => taken(edge).includes(tile)));
  const picked = said.value.node === node ? said.value.tiles : [];
  const pick = (tile: number) => {
    const tiles = picked.includes(tile) ? picked.filter((other) => other !== tile) : [...picked, tile];
    const meant = taking(tiles);
    if (meant.length === 1 && taken(meant[0]).length === tiles.length) take(meant[0]);
    else if (meant.length) said.value = { node, tiles };
  };
  return { picked, pick, meant: taking(picked) };
}
