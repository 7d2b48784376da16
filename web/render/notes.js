// Footnotes: a number in the text, the notes at the end of it, and a way from one to the other that
// leaves the page's address alone.

/**
 * Makes a number a button that leads to its note.
 * @param {HTMLElement} number
 */
export function linkNotes(number) {
  const label = number.dataset.note ?? "";
  const button = document.createElement("button");
  button.type = "button";
  button.className = "note-number";
  button.textContent = label;
  button.setAttribute("aria-label", `Note ${label}`);
  button.addEventListener("click", () => {
    const notes = number.closest(".prose")?.querySelectorAll(".notes li");
    goTo(notes?.[Number(label) - 1]);
  });
  number.replaceChildren(button);
}

/** @param {Element | undefined} note */
function goTo(note) {
  if (!(note instanceof HTMLElement)) return;
  note.tabIndex = -1;
  note.focus({ preventScroll: true });
  note.scrollIntoView({ block: "nearest" });
}
