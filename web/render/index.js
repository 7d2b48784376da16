// Foreign text to safe DOM. Python owns the views and calls these two functions; nothing here
// knows about conversations. Markup comes from marked, is sanitised by DOMPurify, and never holds
// raw HTML, scripts, remote images or links other than http, https and mailto.
import { MarkdownStream } from "./stream.js";

/**
 * A stream that appends Markdown to `element` as it arrives.
 * @param {Element} element
 * @returns {import("../types/python").MarkdownSink}
 */
export function openStream(element) {
  return new MarkdownStream(element);
}

export { loadImage } from "./images.js";
