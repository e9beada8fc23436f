// Adds the box above the results, when it was not ready in time for the page. A reader who has begun to use the page
// keeps it as it is, because the results would move.
const place = document.querySelector("[data-late]");
const begun = new AbortController();
for (const name of ["pointerdown", "keydown", "scroll"]) {
  addEventListener(name, () => begun.abort(), { once: true, passive: true, signal: begun.signal });
}
try {
  const response = await fetch(place.dataset.late, { signal: begun.signal });
  if (response.status === 200) {
    const text = await response.text();
    place.innerHTML = text;
    place.hidden = false;
  }
} catch (error) {
  if (error.name !== "AbortError" && !(error instanceof TypeError)) throw error;
}
begun.abort();
