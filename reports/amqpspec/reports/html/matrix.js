"use strict";
/* The page's behaviour: filters, folding, keys, opening the panel. All state is in the address behind "#". */
const $ = (selector, root = document) => root.querySelector(selector);
const $$ = (selector, root = document) => [...root.querySelectorAll(selector)];
const read = (id) => JSON.parse(document.getElementById(id)?.textContent ?? "null");
const shell = read("shell");
const rows = $$("tr.case");
const groups = $$("tbody.group");
const sections = $$("tbody.section");
const panel = $("#panel");
const wide = matchMedia("(min-width: 1180px)");

/* ---- state: what the address says ---- */
const LISTS = ["verdict", "level", "fold"];
let state = {};
let lastCell = null;

function parse(hash) {
  const given = new URLSearchParams(hash.replace(/^#/, ""));
  const answer = { section: given.get("section") ?? "", q: given.get("q") ?? "", case: given.get("case") ?? "" };
  for (const key of LISTS) answer[key] = new Set((given.get(key) ?? "").split(",").filter(Boolean));
  answer.differs = given.get("differs") === "1";
  answer.known = given.get("known") === "0";
  const target = Number.parseInt(given.get("target") ?? "1", 10) || 1;
  answer.target = Math.min(Math.max(target, 1), shell.targets.length);
  return answer;
}

function format(s) {
  const parts = [];
  const put = (key, value) => value && parts.push(`${key}=${encodeURIComponent(value).replace(/%(2C|2F|3A)/g, decodeURIComponent)}`);
  for (const key of LISTS) put(key, [...s[key]].join(","));
  put("section", s.section);
  put("q", s.q);
  put("differs", s.differs ? "1" : "");
  put("known", s.known ? "0" : "");
  put("case", s.case);
  put("target", s.case ? String(s.target) : "");
  return parts.join("&");
}

function change(edit, push = false) {
  const next = { ...state, ...edit };
  const hash = format(next);
  const address = hash ? `#${hash}` : location.pathname + location.search;
  if (hash !== location.hash.slice(1)) history[push ? "pushState" : "replaceState"](null, "", address);
  apply(next);
}

function apply(next) {
  const before = state;
  state = next;
  showControls();
  filter();
  if (next.case !== before.case || next.target !== before.target) showPanel(before);
  else if (!panel.hidden) showNeighbours();
}

/* ---- filters ---- */
const texts = new Map();
function textOf(row) {
  if (!texts.has(row)) {
    const data = read(`case-${row.dataset.i}`);
    const needs = data.requirements.map((id) => Object.values(shell.requirements[id] ?? {}).join(" "));
    const said = data.cells.map((c) => (c ? [c.verdict, c.expected, c.observed, c.reason, c.ended].join(" ") : ""));
    texts.set(row, [data.id, data.title, data.suite, data.level, ...data.requirements, ...needs, ...said].join(" ").toLowerCase());
  }
  return texts.get(row);
}

function cellFits(token) {
  const known = token.endsWith("!");
  const verdict = known ? token.slice(0, -1) : token;
  if (verdict === "-" || (known && state.known)) return false;
  return !state.verdict.size || state.verdict.has(verdict);
}

function fits(row, words) {
  if (state.level.size && !state.level.has(row.dataset.level)) return false;
  if (state.differs && !("differs" in row.dataset)) return false;
  if (!row.dataset.v.trim().split(" ").some(cellFits)) return false;
  return words.every((word) => textOf(row).includes(word));
}

const narrowed = () => state.verdict.size || state.level.size || state.differs || state.known;

function filter() {
  const words = state.q.toLowerCase().split(/\s+/).filter(Boolean);
  const busy = new Set();
  let shown = 0;
  for (const group of groups) {
    const here = !state.section || group.dataset.section === state.section;
    let alive = 0;
    for (const row of $$("tr.case", group)) {
      row.hidden = !(here && fits(row, words));
      alive += !row.hidden;
    }
    const bare = here && !group.querySelector("tr.case") && !narrowed() && words.every((w) => group.textContent.toLowerCase().includes(w));
    group.hidden = !alive && !bare;
    group.classList.toggle("folded", state.fold.has(group.dataset.section));
    if (!group.hidden) busy.add(group.dataset.section);
    shown += alive;
  }
  for (const section of sections) {
    section.hidden = !busy.has(section.dataset.section);
    $(".fold", section).setAttribute("aria-expanded", String(!state.fold.has(section.dataset.section)));
  }
  $("#shown").textContent = shown === rows.length ? `${shown} case${shown === 1 ? "" : "s"}` : `${shown} of ${rows.length} cases`;
  $("#print-note").textContent = shown === rows.length ? "" : `Filtered: ${$("#shown").textContent}.`;
  $("#nothing").hidden = busy.size > 0;
  $("#matrix-wrap").hidden = busy.size === 0;
  rove();
}

function showControls() {
  if ($("#q").value.trim() !== state.q) $("#q").value = state.q;
  $("#section").value = state.section;
  for (const chip of $$("[data-verdict]", $("#tools"))) press(chip, state.verdict.has(chip.dataset.verdict));
  for (const chip of $$("[data-level]", $("#tools"))) press(chip, state.level.has(chip.dataset.level));
  press($("#differs"), state.differs);
  press($("#known"), state.known);
  $("#reset").disabled = !(narrowed() || state.q || state.section || state.fold.size);
  $("#fold-all").textContent = state.fold.size ? "unfold all" : "fold all";
}

function press(button, on) {
  button?.setAttribute("aria-pressed", String(on));
}

function toggled(set, value) {
  const next = new Set(set);
  if (!next.delete(value)) next.add(value);
  return next;
}

const NO_FILTER = () => ({ verdict: new Set(), level: new Set(), fold: new Set(), section: "", q: "", differs: false, known: false });

function wireTools() {
  const tools = $("#tools");
  let timer = 0;
  tools.hidden = false;
  tools.addEventListener("submit", (event) => event.preventDefault());
  $("#q").addEventListener("input", () => {
    clearTimeout(timer);
    timer = setTimeout(() => change({ q: $("#q").value.trim() }), 120);
  });
  $("#section").addEventListener("change", () => change({ section: $("#section").value }));
  tools.addEventListener("click", (event) => {
    const chip = event.target.closest("button");
    if (chip?.dataset.verdict) change({ verdict: toggled(state.verdict, chip.dataset.verdict) });
    else if (chip?.dataset.level) change({ level: toggled(state.level, chip.dataset.level) });
  });
  $("#differs")?.addEventListener("click", () => change({ differs: !state.differs }));
  $("#known")?.addEventListener("click", () => change({ known: !state.known }));
  $("#reset").addEventListener("click", () => change(NO_FILTER()));
  $("#reset-too").addEventListener("click", () => change(NO_FILTER()));
  $("#fold-all").addEventListener("click", () => change({ fold: new Set(state.fold.size ? [] : sections.map((s) => s.dataset.section)) }));
  for (const section of sections) $(".fold", section).addEventListener("click", () => change({ fold: toggled(state.fold, section.dataset.section) }));
  new ResizeObserver(() => document.documentElement.style.setProperty("--tools-h", `${getComputedStyle(tools).position === "sticky" ? tools.offsetHeight : 0}px`)).observe(tools);
}

/* ---- keys: one cell of the matrix is in the tab order, arrows move it ---- */
const standing = () => rows.filter((row) => !row.hidden && !row.parentNode.classList.contains("folded"));

function rove(cell) {
  const first = cell ?? (lastCell && lastCell.offsetParent ? lastCell : $("a.tile", standing()[0] ?? document.createElement("i")));
  if (lastCell) lastCell.tabIndex = -1;
  lastCell = first ?? null;
  if (lastCell) lastCell.tabIndex = 0;
}

function step(from, down, across) {
  const lines = standing();
  const row = from.closest("tr");
  const last = row.cells.length - 1;
  let y = lines.indexOf(row) + down;
  const x = Math.min(Math.max(from.closest("td").cellIndex + across, 1), last);
  for (; y >= 0 && y < lines.length; y += Math.sign(down) || lines.length) {
    const tile = $("a.tile", lines[y].cells[x]);
    if (tile) return tile;
    if (!down) break;
  }
  return null;
}

const MOVES = { ArrowDown: [1, 0], ArrowUp: [-1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1], Home: [0, -1e6], End: [0, 1e6] };

function wireMatrix() {
  const matrix = $("#matrix");
  matrix.addEventListener("keydown", (event) => {
    const move = MOVES[event.key];
    if (!move || !event.target.matches("a.tile") || event.altKey || event.metaKey || event.ctrlKey) return;
    event.preventDefault();
    const next = step(event.target, ...move);
    if (!next) return;
    rove(next);
    next.focus();
    next.scrollIntoView({ block: "nearest", inline: "nearest" });
  });
  matrix.addEventListener("focusin", (event) => event.target.matches("a.tile") && rove(event.target));
  $("#skip").addEventListener("click", (event) => {
    event.preventDefault();
    lastCell?.focus();
  });
  document.addEventListener("click", followCase);
  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape" && !panel.hidden) change({ case: "" }, true);
  });
}

/* A link to a case keeps the filters; with a modifier key it opens elsewhere, as links do. */
function followCase(event) {
  const link = event.target.closest?.('a[href^="#case="]');
  if (!link || event.ctrlKey || event.metaKey || event.shiftKey || event.button) return;
  event.preventDefault();
  const to = parse(link.getAttribute("href"));
  change({ case: to.case, target: to.target }, true);
}

/* ---- the panel ---- */
function showPanel(before) {
  for (const row of $$("tr.case.open")) row.classList.remove("open");
  if (!state.case) return closePanel(before);
  const row = rows.find((candidate) => candidate.dataset.id === state.case);
  const data = row && read(`case-${row.dataset.i}`);
  row?.classList.add("open");
  panel.replaceChildren(panelBar(data), make("div", { class: "panel-body" }, ...(data ? caseView(row, data) : unknownCase())));
  panel.hidden = false;
  document.body.classList.add("has-panel");
  $("#page").inert = !wide.matches;
  showNeighbours();
  panel.scrollTop = 0;
  panel.focus({ preventScroll: true });
  const tile = row && $("a.tile", row.cells[state.target]);
  if (tile) rove(tile);
  (tile ?? row)?.scrollIntoView({ block: "nearest" });
}

function closePanel(before) {
  if (panel.hidden) return;
  panel.hidden = true;
  panel.replaceChildren();
  $("#page").inert = false;
  document.body.classList.remove("has-panel");
  if (before.case) lastCell?.focus();
}

function unknownCase() {
  return [make("h2", { id: "panel-title", text: state.case }), make("p", { text: "This report has no case with this id." })];
}

function panelBar(data) {
  const go = (id, label, text) => {
    const button = make("button", { class: "icon", id, type: "button", "aria-label": label, title: label, text });
    button.addEventListener("click", () => button.dataset.to && change({ case: button.dataset.to }, true));
    return button;
  };
  const close = make("button", { class: "icon", id: "panel-close", type: "button", "aria-label": "Close the evidence", title: "Close (Esc)", text: "✕" });
  close.addEventListener("click", () => change({ case: "" }, true));
  const link = make("a", { class: "icon", href: caseHash(state.case, state.target), title: "Link to this case without filters", text: "link" });
  return make("div", { class: "panel-bar" }, make("p", { class: "overline", text: data ? data.suite : "" }), go("panel-previous", "Previous case", "↑"), go("panel-next", "Next case", "↓"), link, close);
}

function showNeighbours() {
  const lines = rows.filter((row) => !row.hidden || row.dataset.id === state.case);
  const at = lines.findIndex((row) => row.dataset.id === state.case);
  for (const [id, row] of [["panel-previous", lines[at - 1]], ["panel-next", at < 0 ? undefined : lines[at + 1]]]) {
    const button = document.getElementById(id);
    button.disabled = !row;
    button.dataset.to = row?.dataset.id ?? "";
  }
}

/* ---- start ---- */
function start() {
  wireTools();
  wireMatrix();
  window.addEventListener("hashchange", () => apply(parse(location.hash)));
  window.addEventListener("beforeprint", () => $$("details").forEach((fold) => (fold.open = true)));
  wide.addEventListener("change", () => ($("#page").inert = !panel.hidden && !wide.matches));
  state = { ...parse(""), target: 0 };
  apply(parse(location.hash));
  document.documentElement.dataset.ready = "true";
}
start();
