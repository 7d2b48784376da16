// Pictures in messages: a button first, because loading one tells its host who reads what.
const EMBEDDED = /^data:image\/(?:png|jpeg|gif|webp|avif);base64,/i;
const REMOTE = /^https?:\/\//i;

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
  return button;
}

/** Loads the picture a button stands for; a link takes its place when the host refuses. */
export async function loadImage(button) {
  const { url, alt } = button.dataset;
  try {
    const response = await fetch(url, { credentials: "omit", referrerPolicy: "no-referrer" });
    const blob = await response.blob();
    if (!response.ok || !blob.type.startsWith("image/")) throw new Error("not a picture");
    const shown = picture(URL.createObjectURL(blob), alt);
    shown.addEventListener("load", () => URL.revokeObjectURL(shown.src), { once: true });
    button.replaceWith(shown);
    shown.tabIndex = -1;
    shown.focus();
  } catch {
    const link = document.createElement("a");
    link.href = url;
    link.target = "_blank";
    link.rel = "noopener noreferrer";
    link.textContent = `Open the picture at ${hostOf(url)} in a new tab`;
    button.replaceWith(link);
    link.focus();
  }
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
