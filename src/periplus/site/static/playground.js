// Orders the results of the playground while the reader moves the sliders. The page works without this file, as a form.
// `rank` does what src/periplus/search/scoring/score.py does, in the same order of additions; a test compares both.

// times that a result loses `crowding`
const MOST_CROWDED = 3;
// milliseconds after the last change before the address of the page follows
const DELAY = 250;
const CAUSES = 2;
const SMALLEST_CAUSE = 0.005;

function crowd(ordered, weights) {
  const seen = new Map();
  for (const one of ordered) {
    const key = `${one.result.block} ${one.result.host}`;
    const better = seen.get(key) ?? 0;
    seen.set(key, better + 1);
    one.crowding = -weights.crowding * Math.min(Math.max(better - (weights.per_host - 1), 0), MOST_CROWDED);
  }
}

// The results of *data*, best first, each with its score and what it loses to better results of its host.
export function rank(data, weights) {
  const vector = data.names.map((name) => weights[name]);
  const ordered = data.results.map((result) => {
    const base = vector.reduce((sum, weight, at) => sum + weight * result.features[at], 0);
    return { result, base, crowding: 0, score: base };
  });
  ordered.sort((a, b) => a.result.block - b.result.block || b.base - a.base || a.result.number - b.result.number);
  if (data.is_crowded) crowd(ordered, weights);
  for (const one of ordered) one.score = one.base + one.crowding;
  return ordered.sort((a, b) => a.result.block - b.result.block || b.score - a.score);
}

function signed(number) {
  return `${number < 0 ? "−" : "+"}${Math.abs(number).toFixed(2)}`;
}

function causes(data, weights, now, before) {
  const changes = data.names.map((name, at) => [name, (weights[name] - data.usual[name]) * now.result.features[at]]);
  changes.push(["crowding", now.crowding - before.crowding]);
  changes.sort((a, b) => Math.abs(b[1]) - Math.abs(a[1]));
  const large = changes.slice(0, CAUSES).filter(([, change]) => Math.abs(change) >= SMALLEST_CAUSE);
  return large.map(([name, change]) => `${name} ${signed(change)}`).join(", ");
}

function encode(weights, usual) {
  return Object.keys(usual).filter((name) => weights[name] !== usual[name]).map((name) => `${name}:${weights[name]}`);
}

class Playground {
  constructor(form, list, data) {
    this.form = form;
    this.list = list;
    this.data = data;
    this.rows = new Map([...list.children].map((row) => [Number(row.dataset.number), row]));
    this.before = new Map(rank(data, data.usual).map((one, at) => [one.result.number, { ...one, rank: at + 1 }]));
    this.timer = 0;
  }

  // The weights in the fields; a field that is empty or out of range keeps the weight of the site.
  get weights() {
    const found = {};
    for (const [name, usual] of Object.entries(this.data.usual)) {
      const field = document.getElementById(`w_${name}`);
      found[name] = field.value !== "" && field.validity.valid ? field.valueAsNumber : usual;
    }
    return found;
  }

  get link() {
    const changed = encode(this.weights, this.data.usual);
    return this.form.dataset.base + (changed.length ? `&w=${changed.join(",")}` : "");
  }

  show() {
    const weights = this.weights;
    const placed = rank(this.data, weights);
    placed.forEach((one, at) => this.showRow(one, at + 1, weights));
    this.list.append(...placed.map((one) => this.rows.get(one.result.number)));
    this.showChanges(weights);
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.showLinks(), DELAY);
  }

  showRow(one, place, weights) {
    const row = this.rows.get(one.result.number);
    const before = this.before.get(one.result.number);
    const moved = row.querySelector(".moved");
    const up = before.rank - place;
    row.hidden = place > Number(this.list.dataset.shown);
    row.querySelector(".rank").textContent = place;
    row.querySelector(".score").textContent = one.score.toFixed(4);
    row.querySelector(".cause").textContent = causes(this.data, weights, one, before);
    row.querySelector(".need").hidden = place <= 3;
    moved.hidden = !up;
    moved.classList.toggle("up", up > 0);
    moved.classList.toggle("down", up < 0);
    moved.firstChild.textContent = `${up > 0 ? "▲" : "▼"}${Math.abs(up)}`;
    moved.lastChild.textContent = `${up > 0 ? "up" : "down"} ${Math.abs(up)} place${Math.abs(up) === 1 ? "" : "s"}`;
  }

  showChanges(weights) {
    for (const [name, usual] of Object.entries(this.data.usual)) {
      document.getElementById(`w_${name}`).closest(".weight").classList.toggle("changed", weights[name] !== usual);
    }
    const count = encode(weights, this.data.usual).length;
    const what = count ? `${count} weight${count === 1 ? "" : "s"} changed` : "The weights of this site";
    document.getElementById("changes").textContent = `${what}; the best ${this.data.results.length} results`;
    const save = document.getElementById("save");
    if (save) {
      save.querySelector("button").disabled = !count;
      save.elements.w.value = encode(weights, this.data.usual).join(",");
      save.elements.back.value = this.link;
    }
  }

  showLinks() {
    const link = this.link;
    const all = document.getElementById("all");
    history.replaceState(null, "", link);
    document.getElementById("share").href = link;
    if (all) all.href = `${link}&all=1`;
    const judge = document.getElementById("judge");
    if (judge) judge.elements.back.value = link;
  }

  reset() {
    for (const [name, usual] of Object.entries(this.data.usual)) this.set(name, usual);
    this.show();
  }

  set(name, value) {
    const field = document.getElementById(`w_${name}`);
    field.value = value;
    field.previousElementSibling.value = value;
  }

  // Shows below a result what it needs to reach the top 3; the server computes it.
  async explain(anchor) {
    const row = anchor.closest("li");
    const shown = document.getElementById("needs");
    const own = shown?.parentElement === row;
    shown?.remove();
    if (own) return;
    const need = new URL(anchor.href).searchParams.get("need");
    const address = `${this.link}&need=${encodeURIComponent(need)}`;
    try {
      const answer = await fetch(address);
      const page = new DOMParser().parseFromString(await answer.text(), "text/html");
      const section = document.importNode(page.getElementById("needs"), true);
      row.append(section);
      section.focus({ preventScroll: true });
    } catch {
      location.href = address;
    }
  }
}

function listen(playground) {
  const { form, list } = playground;
  form.addEventListener("input", (event) => {
    const other = event.target.type === "range" ? event.target.nextElementSibling : event.target.previousElementSibling;
    if (other?.type === "number" || other?.type === "range") other.value = event.target.value;
    playground.show();
  });
  form.addEventListener("submit", (event) => event.preventDefault());
  document.getElementById("reset").addEventListener("click", (event) => {
    event.preventDefault();
    playground.reset();
  });
  list.addEventListener("click", (event) => {
    const anchor = event.target.closest("a.need");
    if (!anchor || event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    playground.explain(anchor);
  });
}

async function start(form, list) {
  const answer = await fetch(form.dataset.source);
  const data = answer.ok ? await answer.json() : null;
  // Another index since the page was sent: the form still works.
  if (!data || String(data.generation) !== form.dataset.generation || data.results.length !== list.children.length) return;
  const playground = new Playground(form, list, data);
  for (const slider of form.querySelectorAll("input[type=range]")) slider.hidden = false;
  document.getElementById("apply").hidden = true;
  listen(playground);
  playground.show();
  form.dataset.live = "on";
}

const form = document.getElementById("weights");
const list = document.querySelector(".places");
if (form && list) {
  // As the style sheet shows them; so assistive technology reads them as open too.
  form.querySelector(".weights").open = matchMedia("(min-width: 62rem)").matches;
  start(form, list);
}
