// Completes the typed text: a combobox with a listbox popup (WAI-ARIA 1.2). The search box works without this file.

const DELAY = 80; // milliseconds after the last key before the text is sent
const KEPT = 100; // answers that are kept, so that the same text is not sent again

function element(name, attributes) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  return made;
}

class Completion {
  texts = []; // the suggestions in the list
  active = -1; // the place of the highlighted suggestion
  answers = new Map();
  typed = "";

  constructor(box) {
    this.box = box;
    this.list = element("ul", { id: "suggestions", role: "listbox", "aria-label": "Suggestions", class: "suggestions", hidden: "" });
    this.status = element("div", { role: "status", class: "unseen" });
    box.form.append(this.list, this.status);
    for (const [key, value] of Object.entries({ role: "combobox", "aria-autocomplete": "list", "aria-controls": "suggestions", "aria-expanded": "false" })) {
      box.setAttribute(key, value);
    }
    this.typed = this.text();
    box.addEventListener("input", (event) => { if (!event.isComposing) this.changed(); });
    box.addEventListener("compositionend", () => this.changed());
    box.addEventListener("keydown", (event) => this.pressed(event));
    box.addEventListener("blur", () => this.stop());
    addEventListener("pagehide", () => this.stop());
    this.list.addEventListener("mousedown", (event) => event.preventDefault()); // the box keeps the focus
    this.list.addEventListener("click", (event) => {
      const option = event.target.closest("[role=option]");
      if (option) this.choose([...this.list.children].indexOf(option));
    });
  }

  text() { return this.box.value.trimStart(); }

  get isOpen() { return !this.list.hidden; }

  changed() {
    if (this.text() === this.typed) return;
    this.typed = this.text();
    this.activate(-1);
    this.ask(DELAY);
  }

  ask(delay) {
    this.cancel();
    const text = this.typed;
    if (!text) this.close();
    else if (this.answers.has(text)) this.show(this.answers.get(text));
    else this.timer = setTimeout(() => this.fetch(text), delay);
  }

  async fetch(text) {
    const request = this.request = new AbortController();
    try {
      const answer = await fetch(`/api/suggest?q=${encodeURIComponent(text)}`, { signal: request.signal, credentials: "omit" });
      if (!answer.ok) return;
      const texts = (await answer.json()).suggestions.map((suggestion) => suggestion.text);
      if (this.answers.size >= KEPT) this.answers.clear();
      this.answers.set(text, texts);
      if (!request.signal.aborted && text === this.typed) this.show(texts);
    } catch { /* aborted, or the site cannot be reached: no suggestions */ }
  }

  cancel() {
    clearTimeout(this.timer);
    this.request?.abort();
  }

  stop() {
    this.cancel();
    this.close();
  }

  show(texts) {
    this.texts = texts;
    this.list.replaceChildren(...texts.map((text, place) => this.option(text, place)));
    this.activate(-1);
    this.expand(texts.length > 0);
    this.status.textContent = texts.length === 1 ? "1 suggestion" : `${texts.length} suggestions`;
  }

  option(text, place) {
    const option = element("li", { id: `suggestion-${place}`, role: "option", "aria-selected": "false" });
    const known = text.toLowerCase().startsWith(this.typed.toLowerCase()) ? this.typed.length : 0;
    const rest = element("b", {});
    rest.textContent = text.slice(known);
    option.append(text.slice(0, known), rest);
    return option;
  }

  expand(open) {
    this.list.hidden = !open;
    this.box.setAttribute("aria-expanded", String(open));
  }

  close() {
    this.activate(-1);
    this.expand(false);
    this.status.textContent = "";
  }

  activate(place) {
    this.list.children[this.active]?.setAttribute("aria-selected", "false");
    this.active = place;
    const option = this.list.children[place];
    if (option) {
      option.setAttribute("aria-selected", "true");
      option.scrollIntoView({ block: "nearest" });
      this.box.setAttribute("aria-activedescendant", option.id);
    } else this.box.removeAttribute("aria-activedescendant");
  }

  choose(place) {
    this.fill(place);
    this.box.form.requestSubmit();
  }

  fill(place) {
    this.box.value = this.texts[place];
    this.typed = this.text();
    this.stop();
  }

  pressed(event) {
    if (event.isComposing || event.ctrlKey || event.metaKey) return;
    const action = this.action(event.key);
    if (!action) return;
    action();
    if (event.key === "Tab") return; // the focus moves on
    event.preventDefault();
    event.stopPropagation(); // Escape closes the list and does not leave the box
  }

  action(key) {
    if (!this.isOpen) return key === "ArrowDown" ? () => this.ask(0) : undefined;
    const places = this.texts.length + 1; // those of the suggestions, and -1 for the box
    const always = {
      ArrowDown: () => this.activate((this.active + 2) % places - 1),
      ArrowUp: () => this.activate((this.active + places) % places - 1),
      Escape: () => this.stop(),
    };
    const highlighted = {
      Home: () => this.activate(0),
      End: () => this.activate(places - 2),
      Enter: () => this.choose(this.active),
      Tab: () => this.fill(this.active),
    };
    return always[key] ?? (this.active >= 0 ? highlighted[key] : undefined);
  }
}

const box = document.getElementById("q");
if (box?.form) new Completion(box);
