// Whether the newest answer grows, and the page draws meanwhile.
globalThis.growth = {
  /** How often it has grown since `watch`, each time after a frame of its own. */
  steps: 0,
  watch() {
    const length = () =>
      [...document.querySelectorAll('[data-role="assistant"]')].at(-1)?.textContent.length ?? 0;
    let seen = length();
    growth.steps = 0;
    const look = () => {
      if (length() > seen) growth.steps += 1;
      seen = length();
      if (growth.steps < 100) requestAnimationFrame(look);
    };
    requestAnimationFrame(look);
  },
};
