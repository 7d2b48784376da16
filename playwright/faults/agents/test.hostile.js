/**
 * @agent test.hostile
 * @description Does harm as it is told.
 * @tool harm
 * @tool-description Does harm.
 * @tool-params {"type": "object", "properties": {"how": {"type": "string"}}}
 * @api studio.history
 * @hook afterResponse
 */

async function forever(step = () => {}) {
  for (;;) await step();
}

const harms = {
  loop() {
    for (;;);
  },
  /** As many requests as are allowed, again and again. */
  requests(studio) {
    return forever(() => Promise.all(Array.from({ length: 32 }, () => studio.history.search("e"))));
  },
  /** Answers, and goes on. */
  async linger() {
    forever();
    return "answered";
  },
  async babble(studio) {
    forever(() => studio.log("babble"));
    return "answered";
  },
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

export async function onAfterResponse(event, store, studio) {
  const [, how, held] = /^harm after by (\w+)( when let go)?$/.exec(event.userText) ?? [];
  if (!how) return;
  if (held) await studio.callModel("hold", [{ role: "user", content: how }], 10);
  studio.toast("at it");
  return harms[how](studio);
}
