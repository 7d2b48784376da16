/**
 * The timers that agents and libraries expect beside the language itself. What only some agents name
 * is in `extras/`. There is no document, no fetch, no storage.
 */
interface Timer {
  id: number;
  due: number;
  every: number | null;
  run: () => void;
}

const { now } = Date;

/** Installs the globals; `wakeAfter` asks the host for a wake-up. Answers what to run on one. */
export function installGlobals(wakeAfter: (milliseconds: number) => void): () => void {
  const timers = new Map<number, Timer>();
  let last = 0;

  function start(run: unknown, delay: unknown, repeat: boolean, values: unknown[]): number {
    if (typeof run !== "function") throw new TypeError("a timer needs a function");
    const wait = Math.min(Math.max(Number(delay) || 0, repeat ? 4 : 0), 0x7fffffff);
    const timer = {
      id: ++last,
      due: now() + wait,
      every: repeat ? wait : null,
      run: () => void run(...values),
    };
    timers.set(timer.id, timer);
    wakeAfter(wait);
    return timer.id;
  }

  function askForNext(): void {
    const next = Math.min(...[...timers.values()].map((timer) => timer.due));
    if (timers.size > 0) wakeAfter(Math.max(next - now(), 0));
  }

  function wake(): void {
    const due = [...timers.values()]
      .filter((timer) => timer.due <= now())
      .sort((a, b) => a.due - b.due);
    try {
      for (const timer of due) {
        if (!timers.delete(timer.id)) continue; // cleared by one that ran before
        if (timer.every !== null) timers.set(timer.id, { ...timer, due: now() + timer.every });
        timer.run();
      }
    } finally {
      askForNext();
    }
  }

  Object.assign(globalThis, {
    setTimeout: (run: unknown, delay?: unknown, ...values: unknown[]) =>
      start(run, delay, false, values),
    setInterval: (run: unknown, delay?: unknown, ...values: unknown[]) =>
      start(run, delay, true, values),
    clearTimeout: (id: number) => void timers.delete(id),
    clearInterval: (id: number) => void timers.delete(id),
  });
  return wake;
}
