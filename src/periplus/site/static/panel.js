// Shows facts about the result under the keyboard focus or the pointer, on screens with room for a second column.
const panel = document.getElementById("panel");
const wide = matchMedia("(min-width: 1100px)");
// milliseconds that the pointer or the focus must rest on a result
const DELAY = 180;
// fragments in memory
const KEPT = 50;
const fragments = new Map();
let timer = 0;
let loading = null;
let current = "";

async function load(address) {
  const known = fragments.get(address);
  if (known !== undefined) return known;
  loading?.abort();
  const request = loading = new AbortController();
  const response = await fetch(address, { signal: request.signal });
  const text = response.ok ? await response.text() : "";
  fragments.set(address, text);
  if (fragments.size > KEPT) fragments.delete(fragments.keys().next().value);
  return text;
}

async function show(address) {
  if (!wide.matches || address === current) return;
  current = address;
  try {
    const text = await load(address);
    if (address !== current || !text) return;
    /* The server has escaped the text, and the policy of the page forbids inline scripts. */
    panel.innerHTML = text;
    panel.hidden = false;
    panel.scrollTop = 0;
  } catch {
    if (address === current) current = ""; /* aborted or offline: the next pause tries again */
  }
}

function soon(event) {
  const about = event.target.closest?.(".hit")?.querySelector("a[href^='/page?']");
  clearTimeout(timer);
  if (about) timer = setTimeout(show, DELAY, `/panel${about.search}`);
}

if (panel) {
  const results = document.querySelector(".hits");
  results?.addEventListener("pointerover", soon);
  results?.addEventListener("focusin", soon);
  wide.addEventListener("change", () => { panel.hidden = !wide.matches || !panel.firstChild; });
  if (panel.dataset.first) show(panel.dataset.first);
}
