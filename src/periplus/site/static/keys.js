// Keyboard shortcuts: / focuses the search box, j and k move through the results. The site works without this file.
"use strict";

const help = document.getElementById("keys");
const box = document.getElementById("q");

// Moves from the result that has the focus, on its title or elsewhere in it; otherwise from the first or last result.
function move(step) {
  const links = [...document.querySelectorAll(".hit h2 a")];
  const here = links.findIndex((link) => link.closest(".hit").contains(document.activeElement));
  const next = links[here < 0 ? (step > 0 ? 0 : links.length - 1) : here + step];
  if (next) {
    next.focus({ preventScroll: true });
    next.closest(".hit").scrollIntoView({ block: "nearest" });
  }
}

if (help && box && document.documentElement.dataset.keys !== "off") { // the reader can switch the keys off in /settings
  help.hidden = false;

  const actions = {
    "/": () => { box.focus(); box.select(); },
    "j": () => move(1),
    "k": () => move(-1),
    "?": () => { help.open = !help.open; help.scrollIntoView({ block: "nearest" }); },
  };

  document.addEventListener("keydown", (event) => {
    const writing = event.target.closest("input, textarea, select");
    if (writing) {
      if (event.key === "Escape") box.blur();
      return;
    }
    const action = actions[event.key];
    if (action && !event.ctrlKey && !event.metaKey && !event.altKey) {
      event.preventDefault();
      action();
    }
  });
}
