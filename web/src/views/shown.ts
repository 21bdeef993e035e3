// The values that the map of the Values view shows.

export const SHOWN = {
  exact: "exact values",
  learner: "what the learner believes",
  error: "the learner's error",
};
