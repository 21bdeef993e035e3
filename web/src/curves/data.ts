// What the page holds: tasks, and the learning curves of the agents on each.

import type { Look } from "../data/game";

export interface Mistake {
  afterstate: string;
  roll: string;
  plays: string;
  best: string;
  loss: number;
  visits: number; // expected visits in a turn
  link?: string; // to the position in the explorer
}

export interface Agent extends Look {
  group: string;
  budget: number; // steps that it was trained for
  seeds: number;
  command: string;
  steps: number[];
  minutes: number[]; // of a processor
  mean: number[];
  low: number[]; // the ends of its interval
  high: number[];
  mistakes: Mistake[] | null; // of one seed, costliest first
}

export interface Task {
  title: string;
  unit: string; // such as "regret (points)"
  agents: Agent[];
  lines: Record<string, number>; // policies that did not learn
}

export const tasks: Record<string, Task> = JSON.parse(document.getElementById("data")!.textContent!);

// The budget that most agents have; the larger of two.
export function usualBudget({ agents }: Task): number {
  const count = (budget: number) => agents.filter((agent) => agent.budget === budget).length;
  return budgets(agents).reduce((best, budget) => (count(budget) >= count(best) ? budget : best));
}

export function budgets(agents: Agent[]): number[] {
  return [...new Set(agents.map(({ budget }) => budget))].sort((one, other) => one - other);
}

// A number with two significant digits.
export function shown(value: number): string {
  return value === 0 ? "0" : value < 99.5 ? value.toPrecision(2) : `${Math.round(value)}`;
}
