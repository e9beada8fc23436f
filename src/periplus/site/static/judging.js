// Sends a judgement of the owner without loading the page again. The page works without this file, as a form.

const TEXTS = { right: "✓ Right", wrong: "✗ Wrong" };

function show(pressed, grade) {
  for (const button of pressed.closest(".judge").querySelectorAll("button")) {
    const isPressed = button.dataset.grade === grade;
    const url = button.value.slice(button.value.indexOf(" "));
    button.setAttribute("aria-pressed", String(isPressed));
    button.value = (isPressed ? "none" : button.dataset.grade) + url;
  }
}

function showMark(pressed, text) {
  const mark = pressed.closest(".hit, .places > li").querySelector("[data-mark]");
  mark.textContent = text;
  mark.hidden = !text;
}

document.getElementById("judge")?.addEventListener("submit", async (event) => {
  const pressed = event.submitter;
  if (!pressed) return;
  event.preventDefault();
  const grade = pressed.value.split(" ", 1)[0];
  try {
    const answer = await fetch("/judge", { method: "POST", body: new URLSearchParams(new FormData(event.target, pressed)) });
    if (!answer.ok) throw new Error(`status ${answer.status}`);
    show(pressed, grade);
    showMark(pressed, TEXTS[grade] ?? "");
  } catch {
    showMark(pressed, "Not saved: reload the page");
  }
});
