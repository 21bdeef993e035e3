// The data of the page: tasks, and the learning curves of the agents on each.

import type { Look } from "../data/game";

export interface Mistake {
  afterstate: string;
  roll: string;
  plays: string;
  best: string;
  loss: number;
  visits: number; // expected number in a turn
  link?: string; // to the position in the explorer
}

export interface Agent extends Look {
  group: string;
  budget: number; // steps of training
  seeds: number;
  command: string;
  steps: number[];
  minutes: number[]; // of processor time
  median: number[];
  low: number[]; // the ends of the interval
  high: number[];
  mistakes: Mistake[] | null; // of one seed, the costliest first
}

export interface Task {
  title: string;
  unit: string; // such as "regret (points)"
  agents: Agent[];
  lines: Record<string, number>; // the regrets of policies that did not learn, by name
}

export const tasks: Record<string, Task> = JSON.parse(document.getElementById("data")!.textContent!);

// Return the budget that most agents have; of two, the larger.
export function usualBudget({ agents }: Task): number {
  const count = (budget: number) => agents.filter((agent) => agent.budget === budget).length;
  return budgets(agents).reduce((best, budget) => (count(budget) >= count(best) ? budget : best));
}

export function budgets(agents: Agent[]): number[] {
  return [...new Set(agents.map(({ budget }) => budget))].sort((one, other) => one - other);
}

// Write a number with two significant digits.
export function shown(value: number): string {
  return value === 0 ? "0" : value < 99.5 ? value.toPrecision(2) : `${Math.round(value)}`;
}
