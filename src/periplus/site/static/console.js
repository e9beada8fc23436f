// Keeps a page of the console up to date by server-sent events, and draws its charts.
// Without this script the pages show the same figures, as of the time when they were loaded.

const KEPT = 2000; // points of a chart

const units = {
  number: (value) => value == null ? "–" : value >= 100 || Number.isInteger(value) ? Math.round(value).toLocaleString("en") : value.toFixed(1),
  size: (value) => {
    if (value == null) return "–";
    for (const unit of ["B", "kB", "MB", "GB"]) {
      if (value < 1000) return `${unit === "B" ? Math.round(value) : value.toFixed(1)} ${unit}`;
      value /= 1000;
    }
    return `${value.toFixed(1)} TB`;
  },
  duration: (value) => {
    if (value == null) return "–";
    for (const [unit, length] of [["d", 86400], ["h", 3600], ["min", 60]]) {
      if (value >= 1.5 * length) return `${(value / length).toFixed(value >= 10 * length ? 0 : 1)} ${unit}`;
    }
    return value < 10 ? `${value.toFixed(1)} s` : `${Math.round(value)} s`;
  },
};

function clock(time, step) {
  const at = new Date(time * 1000);
  if (step >= 86400) return at.toLocaleDateString("en", { day: "numeric", month: "short" });
  const seconds = step < 60 ? { second: "2-digit" } : {};
  return at.toLocaleTimeString("en", { hour12: false, hour: "2-digit", minute: "2-digit", ...seconds });
}

const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

class Chart {
  constructor(figure, at, chart) {
    this.figure = figure;
    this.plot = figure.querySelector(".plot");
    this.show = units[chart.unit];
    this.labels = chart.lines.map((line) => line.label);
    this.data = [at.slice(), ...chart.lines.map((line) => line.values.slice())];
    this.draw();
  }

  draw() {
    this.drawn?.destroy();
    this.plot.replaceChildren();
    const strokes = [colour("--bar"), colour("--less")];
    const axis = { stroke: colour("--soft"), grid: { stroke: colour("--line"), width: 1 }, ticks: { show: false }, font: "11px system-ui, sans-serif" };
    const options = {
      width: this.plot.clientWidth,
      height: this.plot.clientHeight,
      legend: { show: false },
      cursor: { drag: { x: false, y: false }, points: { size: 6 } },
      scales: { y: { range: (_, least, most) => [Math.min(least ?? 0, 0), most > 0 ? most * 1.08 : 1] } },
      axes: [
        { ...axis, space: 80, size: 26, values: (_, times) => times.map((time) => clock(time, times[1] - times[0])) },
        { ...axis, size: 58, space: 28, values: (_, values) => values.map(this.show) },
      ],
      series: [{}, ...this.labels.map((label, number) => ({ label, stroke: strokes[number], width: 2, points: { show: false }, spanGaps: true }))],
      hooks: { setCursor: [(plot) => this.write(plot.cursor.idx ?? this.data[0].length - 1)] },
    };
    this.drawn = new window.uPlot(options, this.data, this.plot);
  }

  add(at, values) {
    const times = this.data[0];
    if (times.length && at <= times[times.length - 1]) return;
    times.push(at);
    values.forEach((value, number) => this.data[number + 1].push(value));
    if (times.length > KEPT) this.data.forEach((line) => line.shift());
    this.drawn.setData(this.data);
    this.write(times.length - 1);
  }

  write(index) {
    this.figure.querySelectorAll(".values b").forEach((place, number) => {
      place.textContent = this.show(this.data[number + 1][index]);
    });
  }
}

const charts = new Map();

async function drawCharts(area) {
  const answer = await fetch(area.dataset.series);
  if (!answer.ok) return;
  const { series } = await answer.json();
  if (series.at.length < 2) return;
  for (const chart of series.charts) {
    const figure = area.querySelector(`[data-chart="${chart.name}"]`);
    if (figure) charts.set(chart.name, new Chart(figure, series.at, chart));
  }
  const again = () => charts.forEach((chart) => chart.draw());
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", again);
  let width = area.clientWidth;
  new ResizeObserver(() => {
    if (area.clientWidth !== width) { width = area.clientWidth; again(); }
  }).observe(area);
}

function replace(id, html) {
  const part = document.getElementById(id);
  if (!part || part.contains(document.activeElement) || !getSelection().isCollapsed) return; // a reader is using it
  const scrolled = [...part.querySelectorAll(".scrolled")].map((box) => box.scrollLeft);
  part.innerHTML = html; // rendered by the templates of this site, which escape all crawled text
  part.querySelectorAll(".scrolled").forEach((box, number) => { box.scrollLeft = scrolled[number] ?? 0; });
}

function follow(view) {
  const events = new EventSource(`/console/events?view=${view}`);
  events.addEventListener("message", (event) => {
    const { parts, point } = JSON.parse(event.data);
    for (const [id, html] of Object.entries(parts)) replace(id, html);
    if (point) charts.forEach((chart, name) => chart.add(point.at, point.values[name]));
  });
  addEventListener("pagehide", () => events.close());
}

const views = document.querySelector(".views");
const current = views?.querySelector("[aria-current]");
if (current) views.scrollLeft = current.offsetLeft - views.clientWidth / 2; // on a narrow screen

const area = document.querySelector(".charts[data-series]");
if (area && window.uPlot) await drawCharts(area);
const live = document.querySelector("[data-live]");
if (live) follow(live.dataset.live);
