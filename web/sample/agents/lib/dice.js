// Dice for agents: registers the global `dice` with parse, roll and describe.
(function (/** @type {any} */ root) {
  "use strict";

  const NOTATION = /^(\d{0,2})d(\d{1,4})([+-]\d{1,3})?$/i;

  // "2d6+1" -> {count, sides, modifier}; null when it is not dice or out of bounds.
  function parse(text) {
    const match = NOTATION.exec(text.replace(/\s+/g, ""));
    if (!match) return null;
    const count = match[1] === "" ? 1 : Number(match[1]);
    const sides = Number(match[2]);
    const inBounds = count >= 1 && count <= 20 && sides >= 2 && sides <= 1000;
    return inBounds ? { count, sides, modifier: Number(match[3] ?? 0) } : null;
  }

  function roll(count, sides, modifier) {
    const faces = Array.from({ length: count }, () => 1 + Math.floor(Math.random() * sides));
    const total = faces.reduce((sum, face) => sum + face, modifier);
    return { count, sides, modifier, faces, total };
  }

  // "2d6+1: 3, 5 = 9"
  function describe({ count, sides, modifier, faces, total }) {
    const sign = modifier > 0 ? `+${modifier}` : modifier < 0 ? String(modifier) : "";
    return `${count}d${sides}${sign}: ${faces.join(", ")} = ${total}`;
  }

  root.dice = { parse, roll, describe };
})(typeof globalThis !== "undefined" ? globalThis : this);
