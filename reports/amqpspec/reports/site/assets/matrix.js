// Filters of a matrix by text, difference and level. Without JavaScript, the page shows the complete matrix.
"use strict";
const form = document.getElementById("filters");
if (form) {
  const [text, differing, must, left] = ["filter", "differing", "must", "left"].map((id) => document.getElementById(id));
  const parts = [...document.querySelectorAll("#matrix tbody")].map((part) => ({
    part,
    rows: [...part.querySelectorAll("tr[id]")].map((row) => ({ row, id: row.querySelector("a").textContent.toLowerCase() })),
  }));
  const apply = () => {
    const words = text.value.toLowerCase().split(/\s+/).filter(Boolean);
    let shown = 0;
    for (const { part, rows } of parts) {
      let own = 0;
      for (const { row, id } of rows) {
        const wanted = words.every((word) => id.includes(word)) && (!differing.checked || "differs" in row.dataset)
          && (!must.checked || row.dataset.level === "MUST");
        row.hidden = !wanted;
        own += wanted;
      }
      part.hidden = !own;
      shown += own;
    }
    left.textContent = `${shown} shown`;
  };
  form.hidden = false;
  form.addEventListener("input", apply);
  form.addEventListener("submit", (event) => event.preventDefault());
  apply();
}
document.documentElement.dataset.ready = "true";
