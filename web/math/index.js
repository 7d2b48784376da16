// Mathematics: KaTeX with its style sheet and fonts. A piece of its own, so that only messages with
// formulas cost it. KaTeX makes elements and sets their styles one by one, which the page's policy
// allows; without trust it makes no links, no pictures and nothing with a name.
import katex from "katex";

/** How large a formula may make anything, in em; and how many macros may stand for others. */
const LIMITS = { maxSize: 50, maxExpand: 1000 };
const LONGEST = 20_000;

const styles = document.createElement("link");
styles.rel = "stylesheet";
styles.href = new URL("katex.css", import.meta.url).href;
await new Promise((resolve, reject) => {
  styles.addEventListener("load", resolve);
  styles.addEventListener("error", () => reject(new Error(`${styles.href} can't be loaded`)));
  document.head.append(styles);
});

/**
 * Draws LaTeX into `element`; throws what KaTeX can't read.
 * @param {string} source
 * @param {HTMLElement} element
 * @param {boolean} display
 */
export function draw(source, element, display) {
  if (source.length > LONGEST) throw new RangeError("too long");
  katex.render(source, element, {
    displayMode: display,
    throwOnError: true,
    strict: "ignore",
    trust: false,
    ...LIMITS,
  });
}
