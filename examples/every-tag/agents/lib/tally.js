// Counts equal values: tally.count(["a", "b", "a"]) is {a: 2, b: 1}.
(function (scope) {
  "use strict";
  scope.tally = {
    count(values) {
      const counts = {};
      for (const value of values) counts[value] = (counts[value] ?? 0) + 1;
      return counts;
    },
  };
})(globalThis);
