// Pictures in messages: a button first, because loading one tells its host who reads what.
const EMBEDDED = /^data:image\/(?:png|jpeg|gif|webp|avif);base64,/i;
const REMOTE = /^https?:\/\//i;
/** Pictures that are kept in memory. */
const KEPT = 50;

/** URL -> promise of the picture, of those the user has asked for: replies are drawn repeatedly. */
const asked = new Map();

/** What stands for a Markdown image: the picture when it is embedded, else a button or its text. */
export function imageButton(image) {
  const url = image.dataset.remote ?? "";
  if (EMBEDDED.test(url)) return picture(url, image.alt);
  if (!REMOTE.test(url)) return document.createTextNode(image.alt);
  const button = document.getElementById("t-image").content.firstElementChild.cloneNode(true);
  button.dataset.url = url;
  button.dataset.alt = image.alt;
  const label = button.querySelector("[data-part=label]");
  label.textContent = `Show picture from ${hostOf(url)}${image.alt ? `: ${image.alt}` : ""}`;
  if (asked.has(url)) queueMicrotask(() => answer(button)); // once the button has its place
  return button;
}

/** Loads the picture a button stands for; a link takes its place when the host refuses. */
export async function loadImage(button) {
  const { url } = button.dataset;
  if (!asked.has(url)) {
    if (asked.size === KEPT) asked.delete(asked.keys().next().value);
    asked.set(url, fetched(url));
  }
  const shown = await answer(button);
  shown.tabIndex = -1;
  shown.focus();
}

/** What a button's picture came to, in its place. */
async function answer(button) {
  const { url, alt } = button.dataset;
  const shown = await asked.get(url).then(
    (blob) => pictureOf(blob, alt),
    () => linkTo(url),
  );
  button.replaceWith(shown);
  return shown;
}

async function fetched(url) {
  const response = await fetch(url, { credentials: "omit", referrerPolicy: "no-referrer" });
  const blob = await response.blob();
  if (!response.ok || !blob.type.startsWith("image/")) throw new Error("not a picture");
  return blob;
}

function pictureOf(blob, alt) {
  const shown = picture(URL.createObjectURL(blob), alt);
  shown.addEventListener("load", () => URL.revokeObjectURL(shown.src), { once: true });
  return shown;
}

function linkTo(url) {
  const link = document.createElement("a");
  link.href = url;
  link.target = "_blank";
  link.rel = "noopener noreferrer";
  link.textContent = `Open the picture at ${hostOf(url)} in a new tab`;
  return link;
}

function picture(source, alt) {
  const image = document.createElement("img");
  image.src = source;
  image.alt = alt ?? "";
  return image;
}

function hostOf(url) {
  try {
    return new URL(url).host;
  } catch {
    return "another site";
  }
}
