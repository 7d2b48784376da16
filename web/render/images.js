// Pictures in messages: a button first, because loading one tells its host who reads what.
import { part, template } from "./templates.js";

const EMBEDDED = /^data:image\/(?:png|jpeg|gif|webp|avif);base64,/i;
const REMOTE = /^https?:\/\//i;
/** @typedef {HTMLElement & { dataset: { url: string, alt: string } }} Pictured what a picture replaces */

/** Pictures that are kept in memory. */
const KEPT = 50;

/**
 * URL -> promise of the picture, of those the user has asked for: replies are drawn repeatedly.
 * @type {Map<string, Promise<Blob>>}
 */
const asked = new Map();

/**
 * What stands for a Markdown image: the picture when it is embedded, else a button or its text.
 * @param {HTMLImageElement} image
 */
export function imageButton(image) {
  const url = image.dataset.remote ?? "";
  if (EMBEDDED.test(url)) return picture(url, image.alt);
  if (!REMOTE.test(url)) return document.createTextNode(image.alt);
  const button = /** @type {Pictured} */ (template("t-image"));
  button.dataset.url = url;
  button.dataset.alt = image.alt;
  const label = part(button, "[data-part=label]");
  label.textContent = `Show picture from ${hostOf(url)}${image.alt ? `: ${image.alt}` : ""}`;
  if (asked.has(url)) queueMicrotask(() => answer(button)); // once the button has its place
  return button;
}

/**
 * Loads the picture a button stands for; a link takes its place when the host refuses.
 * @param {Pictured} button
 */
export async function loadImage(button) {
  const { url } = button.dataset;
  if (!asked.has(url)) {
    if (asked.size === KEPT) asked.delete([...asked.keys()][0]);
    asked.set(url, fetched(url));
  }
  const shown = await answer(button);
  shown.tabIndex = -1;
  shown.focus();
}

/**
 * What a button's picture came to, in its place.
 * @param {Pictured} button
 */
async function answer(button) {
  const { url, alt } = button.dataset;
  const shown = await /** @type {Promise<Blob>} */ (asked.get(url)).then(
    (blob) => pictureOf(blob, alt),
    () => linkTo(url),
  );
  button.replaceWith(shown);
  return shown;
}

/** @param {string} url */
async function fetched(url) {
  const response = await fetch(url, { credentials: "omit", referrerPolicy: "no-referrer" });
  const blob = await response.blob();
  if (!response.ok || !blob.type.startsWith("image/")) throw new Error("not a picture");
  return blob;
}

/**
 * @param {Blob} blob
 * @param {string} alt
 */
function pictureOf(blob, alt) {
  const shown = picture(URL.createObjectURL(blob), alt);
  shown.addEventListener("load", () => URL.revokeObjectURL(shown.src), { once: true });
  return shown;
}

/** @param {string} url */
function linkTo(url) {
  const link = document.createElement("a");
  link.href = url;
  link.target = "_blank";
  link.rel = "noopener noreferrer";
  link.textContent = `Open the picture at ${hostOf(url)} in a new tab`;
  return link;
}

/**
 * @param {string} source
 * @param {string} alt
 */
function picture(source, alt) {
  const image = document.createElement("img");
  image.src = source;
  image.alt = alt ?? "";
  return image;
}

/** @param {string} url */
function hostOf(url) {
  try {
    return new URL(url).host;
  } catch {
    return "another site";
  }
}
