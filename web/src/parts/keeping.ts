// Choose moves by dice. A click on a die picks the move with the fewest dice among those that take it and all dice picked
// so far; another click picks the move with the most dice among those that leave it. The rules are not needed for this.

import { useSignal } from "@preact/signals";
import { useLayoutEffect } from "preact/hooks";
import { pairsOf, takenBy } from "../data/game";
import { useSession } from "../session";

export interface Keeping {
  picked: number[]; // the places of dice in the throw
  pick: (place: number) => void;
}

interface Choice extends Keeping {
  meant: number[]; // the pair that takes the picked dice, or all pairs
}

// Pick dice of a throw at a state; null if no move takes dice, or if the state is null.
export function useKeeping(state: number | null, faces: number[]): Choice | null {
  const { game } = useSession();
  const nothing = { state, pair: -1, picked: [] as number[] };
  const selection = useSignal(nothing);
  useLayoutEffect(() => {
    selection.value = nothing; // also after a return to this state
  }, [state, faces.join()]);
  if (state === null || game.taken === null) return null;
  const places = faces.map((_, place) => place);
  const { pair, picked } = selection.value.state === state ? selection.value : nothing;
  // The places of the dice that a pair takes, the preferred ones first; [] if some of them are not among the preferred.
  const diceOf = (taking: number, preferred: number[]) => {
    const left = [...preferred];
    const found = takenBy(game, taking).map((face) => {
      const at = left.findIndex((place) => faces[place] === face);
      return at < 0 ? -1 : left.splice(at, 1)[0];
    });
    return found.includes(-1) ? [] : found;
  };
  const pick = (place: number) => {
    const keeps = !picked.includes(place);
    const wanted = keeps ? [...picked, place] : picked.filter((other) => other !== place);
    const allowed = [...wanted, ...places.filter((other) => other !== place && !wanted.includes(other))];
    const options = pairsOf(game, state)
      .map((pair) => ({ state, pair, picked: diceOf(pair, allowed) }))
      .filter(({ picked: dice }) =>
        keeps ? wanted.every((other) => dice.includes(other)) : dice.length > 0 && dice.length < picked.length,
      )
      .sort((one, other) => one.picked.length - other.picked.length);
    selection.value = options.at(keeps ? 0 : -1) ?? nothing;
  };
  return { picked, pick, meant: pair < 0 ? pairsOf(game, state) : [pair] };
}
