/**
 * @agent test.hostile
 * @description Does harm as it is told.
 * @tool harm
 * @tool-description Does harm.
 * @tool-params {"type": "object", "properties": {"how": {"type": "string"}}}
 */

const harms = {
  flood(studio) {
    for (;;) studio.log("flood");
  },
  async swallow() {
    for (;;)
      try {
        await Promise.reject(new Error("again"));
      } catch {
        // on and on
      }
  },
  memory() {
    const kept = [];
    for (;;) kept.push(new Array(1e6).fill(kept.length));
  },
  deep() {
    let value = [];
    for (let depth = 0; depth < 20_000; depth += 1) value = [value];
    return value;
  },
  cycle() {
    const value = {};
    value.self = value;
    return value;
  },
  surrogate: () => "half \ud800 a pair",
  huge: () => "x".repeat(9 * 2 ** 20),
};

export function onToolCall(name, args, store, studio) {
  return harms[args.how](studio);
}
