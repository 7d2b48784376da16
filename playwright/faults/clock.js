// A page whose waits can be skipped: `skip(ms)` makes that much time have passed.
(() => {
  const LONG = 400; // milliseconds; shorter waits are left alone
  const { setTimeout: plainSet, clearTimeout: plainClear } = globalThis;
  const plainNow = performance.now.bind(performance);
  const waiting = new Map();
  let skipped = 0;
  performance.now = () => plainNow() + skipped;

  function arm(id, work, due) {
    const fire = () => {
      waiting.delete(id);
      work();
    };
    const real = plainSet(fire, Math.max(0, due - performance.now()));
    waiting.set(id, { real, work, due });
  }

  globalThis.setTimeout = (work, delay = 0, ...args) => {
    if (!(delay >= LONG)) return plainSet(work, delay, ...args);
    const id = plainSet(() => {}, 0);
    arm(id, () => work(...args), performance.now() + delay);
    return id;
  };
  globalThis.clearTimeout = (id) => {
    plainClear(waiting.get(id)?.real ?? id);
    waiting.delete(id);
  };
  globalThis.skip = (milliseconds) => {
    skipped += milliseconds;
    for (const [id, { real, work, due }] of [...waiting]) {
      plainClear(real);
      arm(id, work, due);
    }
  };
  /** Settles once the page has had time for all that is due. */
  globalThis.rest = () =>
    new Promise((resolve) => requestAnimationFrame(() => requestIdleCallback(resolve)));
})();
