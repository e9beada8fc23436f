// Menus close on Escape and on a click outside; "Why this result?" opens below the result. The site works without this file.

const OPEN = "details.menu[open]";

function close(menu) {
  menu.open = false;
}

document.addEventListener("click", (event) => {
  for (const menu of document.querySelectorAll(OPEN)) {
    if (!menu.contains(event.target)) close(menu);
  }
});

document.addEventListener("keydown", (event) => {
  if (event.key !== "Escape") return;
  for (const menu of document.querySelectorAll(OPEN)) {
    const inside = menu.contains(document.activeElement);
    close(menu);
    if (inside) menu.querySelector("summary").focus();
  }
});

async function explain(link) {
  const article = link.closest("article");
  const shown = article.querySelector(".explained");
  close(link.closest("details"));
  if (shown) {
    shown.remove();
    return;
  }
  const answer = await fetch(link.href);
  const page = new DOMParser().parseFromString(await answer.text(), "text/html");
  const reasons = page.getElementById("reasons");
  if (!answer.ok || !reasons) throw new Error(`status ${answer.status}`);
  const place = document.createElement("div");
  place.className = "explained";
  place.tabIndex = -1;
  place.append(...document.importNode(reasons, true).childNodes);
  article.append(place);
  place.focus({ preventScroll: true });
}

document.addEventListener("click", (event) => {
  const link = event.target.closest("a[data-why]");
  if (!link || event.button || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return;
  event.preventDefault();
  explain(link).catch(() => { location.href = link.href; });
});
