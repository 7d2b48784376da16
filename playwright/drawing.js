// What the tests of drawing run in the page: `drawing(render)` has a drawn text as a string, and
// what CommonMark's own HTML comes to under the player's rules for links and pictures.
globalThis.drawing = (render) => {
  const BLOCKS =
    "P,UL,OL,LI,BLOCKQUOTE,H1,H2,H3,H4,H5,H6,HR,PRE,TABLE,THEAD,TBODY,TR,TH,TD,DIV,SECTION";
  const blocks = new Set(BLOCKS.split(","));

  const whole = (text) => {
    const element = document.createElement("div");
    render.openStream(element).end(text);
    return element;
  };
  const inPieces = (pieces) => {
    const element = document.createElement("div");
    const stream = render.openStream(element);
    for (const piece of pieces) {
      stream.push(piece);
      // No rest: each state on the way is drawn.
      clearTimeout(stream.timer);
      stream.restUntil = 0;
      stream.step();
    }
    stream.end();
    return element;
  };
  /** The markup, with code as text: it is coloured when the page has time. */
  const markup = (element) => {
    for (const code of element.querySelectorAll("pre code")) code.textContent += "";
    return element.innerHTML;
  };
  /** Drawn elements in the words of the specification. */
  const asSpecified = (element) => {
    for (const figure of element.querySelectorAll("figure.code")) {
      const pre = document.createElement("pre");
      pre.textContent = figure.querySelector("code").textContent;
      figure.replaceWith(pre);
    }
    for (const part of element.querySelectorAll(".prose-part"))
      part.replaceWith(...part.childNodes);
    for (const button of element.querySelectorAll("button.image-button"))
      button.replaceWith(button.dataset.alt);
    return outline(element);
  };
  /** The specification's HTML under our rules: links that lead nowhere safe and pictures are text. */
  const expected = (html) => {
    const element = document.createElement("div");
    element.append(new DOMParser().parseFromString(html, "text/html").body);
    for (const image of element.querySelectorAll("img")) image.replaceWith(image.alt);
    for (const link of element.querySelectorAll("a"))
      if (!/^(https?:\/\/|mailto:)/i.test(link.getAttribute("href")))
        link.replaceWith(...link.childNodes);
    for (const pre of element.querySelectorAll("pre"))
      pre.textContent = pre.textContent.replace(/\n$/, "");
    return outline(element.firstElementChild);
  };
  const ATTRIBUTES = ["href", "title", "start", "align", "type", "checked", "disabled"];
  const outline = (element) => {
    element.normalize();
    let text = "";
    for (const node of element.childNodes) {
      if (node instanceof Text) {
        const beside = (other) => !other || blocks.has(other.nodeName) || other.nodeName === "BR";
        let data = node.data;
        if (element.nodeName !== "PRE") {
          if (beside(node.previousSibling)) data = data.replace(/^\n+/, "");
          if (beside(node.nextSibling)) data = data.replace(/\n+$/, "");
        }
        text += JSON.stringify(data).replace('""', "");
      } else if (node instanceof Element) {
        const attributes = ATTRIBUTES.filter((name) => node.hasAttribute(name)).map(
          (name) => ` ${name}=${node.getAttribute(name)}`,
        );
        text += `<${node.localName}${attributes.join("")}>${outline(node)}</>`;
      }
    }
    return text;
  };
  return { whole, inPieces, markup, asSpecified, expected };
};
