/** What the build puts in, what the page's scripts find by name, and files that are texts. */
declare const PERSONAE_ASSETS: import("./python").BuildFacts;
declare const PERSONAE_EVENTS: (keyof import("./python").Emissions)[];

interface Window {
  "personae.host": import("./python").Host;
}

interface WindowEventMap {
  "py:progress": CustomEvent<string>;
  "personae:started": Event;
}

declare module "*.py" {
  const text: string;
  export default text;
}

declare module "markdown-it-footnote" {
  const footnotes: (md: import("markdown-it").MarkdownIt) => void;
  export default footnotes;
}
