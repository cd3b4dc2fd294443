"use strict";
/* The contents of the evidence panel: builds nodes from the data of the page; handles no events except links.
   Uses shell, state, read, format and NO_FILTER of matrix.js. */

function make(tag, options = {}, ...children) {
  const { text, ...rest } = options;
  const node = document.createElement(tag);
  for (const [key, value] of Object.entries(rest)) node.setAttribute(key, value);
  if (text !== undefined) node.textContent = text;
  node.append(...children.filter((child) => child !== null && child !== undefined && child !== ""));
  return node;
}

const symbol = (verdict, known) => make("span", { class: `sym v-${verdict}${known ? " known" : ""}`, "aria-hidden": "true", text: shell.looks[verdict].symbol });
const word = (cell) => shell.looks[cell.verdict].word + (cell.known ? ", known deviation" : "");
const levelBadge = (level) => make("span", { class: `level level-${level.toLowerCase()}`, text: level });
const caseHash = (id, target) => `#${format({ ...NO_FILTER(), case: id, target })}`;
const count = (n, noun) => `${n.toLocaleString("en")} ${noun}${n === 1 ? "" : "s"}`;

function caseView(row, data) {
  const cell = data.cells[state.target - 1];
  const title = make("h2", { id: "panel-title", text: data.id });
  const parts = [title, make("p", { class: "quiet", text: data.title }), targetTabs(data)];
  if (!cell) return [...parts, make("p", { class: "ruling", text: `${shell.targets[state.target - 1]} has no such case in its run.` })];
  parts.push(ruling(data, cell), facing(cell), make("h3", { text: data.requirements.length === 1 ? "Requirement" : "Requirements" }), needs(data));
  return [...parts, make("h3", { text: "Transcript" }), ...transcript(row, cell)];
}

function targetTabs(data) {
  if (shell.targets.length < 2) return null;
  const tabs = shell.targets.map((name, index) => {
    const cell = data.cells[index];
    const tab = make("a", { class: "tab", href: caseHash(data.id, index + 1), "aria-current": String(index + 1 === state.target) }, cell ? symbol(cell.verdict, cell.known) : null, name);
    tab.append(make("span", { class: "sr", text: cell ? `: ${word(cell)}` : ": no such case" }));
    return tab;
  });
  return make("nav", { class: "tabs", "aria-label": "Target" }, ...tabs);
}

function ruling(data, cell) {
  const time = cell.ms.toLocaleString("en", { maximumFractionDigits: cell.ms < 10 ? 2 : 0 });
  const facts = [`${time} ms`, cell.attempt > 1 ? `attempt ${cell.attempt}` : ""].filter(Boolean).join(", ");
  const ran = !["not-applicable", "blocked", "excluded"].includes(cell.verdict);
  return make("p", { class: "ruling" }, make("strong", {}, symbol(cell.verdict, cell.known), word(cell)), levelBadge(data.level), make("span", { class: "quiet", text: ran ? facts : "did not run" }));
}

function facing(cell) {
  const box = (label, text) => (text ? make("div", { class: "box" }, make("b", { text: label }), text) : null);
  const why = cell.known ? "Baseline: known because" : "Reason";
  return make("div", { class: "facing" }, box("Expected", cell.expected), box("Observed", cell.observed), box(why, cell.reason), box("Connection", endings(cell.ended)));
}

function needs(data) {
  const items = data.requirements.map((id) => {
    const need = shell.requirements[id] ?? {};
    const where = [need.section, need.source, need.binds && `binds ${need.binds}`, need.same_as && need.same_as !== id && `same as ${need.same_as}`].filter(Boolean).join(" · ");
    const item = make("li", {}, need.level ? levelBadge(need.level) : null, " ", make("code", { text: id }), need.says ? ` ${need.says}` : "");
    if (where) item.append(make("span", { class: "quiet", text: where }));
    if (need.reading) item.append(make("span", { class: "quiet", text: `Interpretation: ${need.reading}` }));
    return item;
  });
  return items.length ? make("ul", { class: "needs" }, ...items) : make("p", { class: "quiet", text: "None recorded." });
}

function transcript(row, cell) {
  const file = cell.link ? make("a", { href: cell.link, text: cell.file }) : cell.file ? make("code", { text: cell.file }) : null;
  const evidence = read(`ev-${row.dataset.i}-${state.target}`);
  if (!evidence) {
    const why = !cell.file ? "None: this case exchanged no data." : cell.link ? "Not embedded in this page: " : shell.embedded === "deviations" ? "Not in this page, which holds the transcripts of deviations only: " : "The transcript file was not found: ";
    return [make("p", { class: "log-note" }, why, file)];
  }
  const size = [count(evidence.frames, "frame"), count(evidence.octets, "octet"), evidence.conns > 1 ? count(evidence.conns, "connection") : ""].filter(Boolean).join(", ");
  const note = make("p", { class: "log-note" }, `${size}. Transcript file: `, file);
  const log = make("ol", { class: "log" }, ...evidence.log.map((entry) => logEntry(entry, evidence.conns > 1)));
  return [note, log];
}

function cutEntry(cut) {
  const text = `${count(cut.entries, "step")} with ${count(cut.octets, "octet")} omitted. The page contains the first and last steps of a case, at most ${shell.caps.frames} frames or ${shell.caps.kib} KiB; the transcript file contains all.`;
  return make("li", { class: "cut", text });
}

const ENDS = {
  fin: "closed by the target (FIN)",
  rst: "reset by the target (RST)",
  open: "still open when the case ended",
  refused: "refused by the target",
};
/* Describes "fin, open, open"; returns any other text unchanged. */
function endings(text) {
  const ways = (text ?? "").split(", ");
  if (!ways.every((way) => way in ENDS)) return text;
  if (ways.length === 1) return ENDS[text];
  return [...new Set(ways)].map((way) => `${ways.filter((other) => other === way).length} ${ENDS[way]}`).join(", ");
}

const stamp = (ns) => `+${(ns / 1e6).toFixed(3)} ms`;

function logEntry(entry, many) {
  if (entry.k === "cut") return cutEntry(entry);
  const conn = many && entry.c ? `connection ${entry.c}` : "";
  if (entry.k !== "frame" && entry.k !== "raw") {
    const text = entry.k === "end" ? endings(entry.x) : entry.x;
    return make("li", { class: "mark" }, make("time", { text: stamp(entry.t) }), make("span", { text: [conn, text].filter(Boolean).join(": ") }));
  }
  const sent = entry.d === "out";
  const facts = [conn, entry.ty, entry.ch !== undefined ? `channel ${entry.ch}` : "", count(entry.n, "octet")].filter(Boolean).join(" · ");
  const head = make("p", { class: "head" }, make("span", { class: "way", text: sent ? "→ sent" : "← received" }), make("time", { text: stamp(entry.t) }), facts);
  const left = make("div", {}, head, decoded(entry));
  return make("li", { class: `frame ${sent ? "out" : "in"}` }, left, dump(entry));
}

function decoded(entry) {
  if (entry.k === "raw") return make("p", { class: "decoded quiet", text: "octets that are not a frame" });
  const [first, ...rest] = (entry.x || "frame").split(" ");
  return make("p", { class: "decoded" }, make("b", { text: first }), rest.length ? ` ${rest.join(" ")}` : "");
}

function dump(entry) {
  const node = make("pre", { class: "hex", tabindex: "0", "aria-label": "Octets" });
  const octets = (entry.h.match(/../g) ?? []).map((pair) => Number.parseInt(pair, 16));
  for (let at = 0; at < octets.length; at += 8) {
    const line = octets.slice(at, at + 8);
    const hex = line.map((o) => o.toString(16).padStart(2, "0")).join(" ").padEnd(23);
    const ascii = line.map((o) => (o > 31 && o < 127 ? String.fromCharCode(o) : "·")).join("");
    node.append(make("i", { text: String((entry.o ?? 0) + at).padStart(6) }), `  ${hex}  `, make("i", { text: ascii }), "\n");
  }
  const more = entry.n - octets.length;
  if (more > 0) node.append(make("i", { text: `        … ${count(more, "more octet")}` }));
  return node;
}
