// The search page lists the pages that contain all words of the query; pages with a word in the title come first.
"use strict";
const MOST = 200;
const query = new URLSearchParams(location.search).get("q") || "";
const words = query.toLowerCase().split(/\s+/).filter(Boolean);
document.getElementById("find").value = query;
if (words.length) {
  const ranked = [];
  for (const [page, title, kind, text] of window.amqpspecPages) {
    const name = title.toLowerCase();
    const all = `${name} ${kind} ${text}`.toLowerCase();
    if (words.every((word) => all.includes(word)))
      ranked.push([words.filter((word) => !name.includes(word)).length, ranked.length, page, title, kind, text]);
  }
  ranked.sort((a, b) => a[0] - b[0] || a[1] - b[1]);
  const found = document.getElementById("found");
  for (const [, , page, title, kind, text] of ranked.slice(0, MOST)) {
    const item = found.appendChild(document.createElement("li"));
    const link = item.appendChild(document.createElement("a"));
    link.href = page;
    link.textContent = title;
    item.append(" ");
    const what = item.appendChild(document.createElement("span"));
    what.className = "quiet";
    what.textContent = text ? `${kind}: ${text}` : kind;
  }
  const more = ranked.length > MOST ? `, the first ${MOST} shown` : "";
  document.getElementById("count").textContent = `${ranked.length} found for “${query}”${more}`;
}
document.documentElement.dataset.ready = "true";
