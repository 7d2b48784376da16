// The request for a character's package. Nothing that the browser knows of the user goes with it.
/** @type {RequestInit} */
const options = { credentials: "omit", referrerPolicy: "no-referrer", cache: "no-cache" };
/** @type {{ href: string, response: Promise<Response> } | null} */
let early = null;

/** Asks for the package that the page's address names, while Python starts. */
export function fetchEarly() {
  const link = new URLSearchParams(location.search).get("loadCharacter");
  if (!link || !URL.canParse(link, document.baseURI)) return;
  const { href, protocol } = new URL(link, document.baseURI);
  if (!/^https?:$/.test(protocol)) return;
  const first = href.endsWith("/") ? `${href}files.json` : href; // a folder's list names the rest
  early = { href: first, response: fetch(first, options) };
  early.response.catch(() => {}); // told when it is asked for
}

/**
 * -> promise of the Response, as of fetch.
 * @param {string} href
 */
export function fetchPackage(href) {
  const { response } = early?.href === href ? early : { response: fetch(href, options) };
  early = null;
  return response;
}
