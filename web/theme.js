// Before the first paint: the theme the user chose, so that it does not change under their eyes.
try {
  document.documentElement.dataset.theme = localStorage.getItem("personae.theme") ?? "auto";
} catch {
  // Storage is refused: the system's theme it is.
}
