// Plots to zoom into and read values from, beside the pictures that need no script.
"use strict";
const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

function options(data, title, width) {
  const axis = { stroke: () => colour("--quiet"), grid: { stroke: () => colour("--line"), width: 1 }, ticks: { show: false } };
  const told = (value) => (value === null || value === undefined ? "–" : `${value.toLocaleString("en")}${data.unit}`);
  const x = data.labels.length
    ? { label: "Run", value: (_, at) => data.labels[at] ?? "–" }
    : { label: "Day", value: (_, at) => (at === null || at === undefined ? "–" : new Date(at * 1000).toISOString().slice(0, 10)) };
  const days = (_, at) => at.map((one) => new Date(one * 1000).toISOString().slice(0, 10));
  const runs = (_, at) => at.map((one) => (Number.isInteger(one) && data.labels[one] ? String(one + 1) : ""));
  return {
    width, height: 300, scales: { x: { time: !data.labels.length }, y: data.high === null ? {} : { range: [data.low, data.high] } },
    tzDate: (at) => uPlot.tzDate(new Date(at * 1000), "UTC"),
    axes: [{ ...axis, values: data.labels.length ? runs : days, space: 90 }, { ...axis, size: 70, values: (_, at) => at.map(told) }],
    series: [x, ...data.names.map((label, n) => ({
      label, width: 2, stroke: () => colour(`--s${n % 8}`), dash: [[], [7, 4], [2, 4]][Math.floor(n / 8) % 3],
      spanGaps: true, ...(data.hollow.includes(n) && { paths: () => null }), value: (_, at) => told(at), points: { show: true, size: 6 },
    }))],
  };
}

function place(box) {
  const data = JSON.parse(box.dataset.plot);
  const button = document.createElement("button");
  button.type = "button";
  button.className = "plain-button zoom";
  button.textContent = "Zoom and read values";
  button.setAttribute("aria-expanded", "false");
  box.after(button);
  let made = null;
  const draw = () => {
    const frame = document.createElement("div");
    frame.className = "plot interactive";
    box.after(frame);
    const plot = new uPlot(options(data, box.getAttribute("aria-label"), Math.max(280, box.clientWidth - 22)), data.values, frame);
    const canvas = frame.querySelector("canvas");
    canvas.setAttribute("role", "img");
    canvas.setAttribute("aria-label", `${box.getAttribute("aria-label")}; the values are in the table below`);
    const hint = frame.appendChild(document.createElement("p"));
    hint.className = "quiet";
    hint.textContent = "Drag to zoom, double-click to show everything.";
    return { frame, plot };
  };
  button.addEventListener("click", () => {
    if (made) { made.plot.destroy(); made.frame.remove(); made = null; } else made = draw();
    box.classList.toggle("replaced", Boolean(made));
    button.setAttribute("aria-expanded", String(Boolean(made)));
    button.textContent = made ? "Show the picture" : "Zoom and read values";
  });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => made && made.plot.redraw());
}

document.querySelectorAll(".plot[data-plot]").forEach(place);
document.documentElement.dataset.ready = "true";
