// Adds a microphone button to the search box, where the browser can recognise speech. The search box works without this file.

const Recogniser = window.SpeechRecognition ?? window.webkitSpeechRecognition;
const AGREED = "voice"; // key of the session storage: the reader has read who hears the audio
const ICON = "M12 3a3 3 0 0 0-3 3v6a3 3 0 0 0 6 0V6a3 3 0 0 0-3-3ZM5.5 11.5a6.5 6.5 0 0 0 13 0M12 18v3.5";
const LABELS = { idle: "Search by voice", listening: "Stop listening" };
const ERRORS = {
  "not-allowed": "The microphone is blocked for this site. Allow it in your browser, or type.",
  "service-not-allowed": "Your browser does not allow speech recognition here. Please type.",
  "no-speech": "Nothing was heard. Please try again.",
  "audio-capture": "No microphone was found. Please type.",
  "network": "Your browser could not reach its speech service. Please type.",
  "aborted": "Listening was stopped.",
  "language-not-supported": "Your browser does not understand speech in this language. Please type.",
};
const UNKNOWN_ERROR = "Your browser could not understand the speech. Please type.";

function element(name, attributes, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children);
  return made;
}

function icon() {
  const space = "http://www.w3.org/2000/svg";
  const [drawing, path] = [document.createElementNS(space, "svg"), document.createElementNS(space, "path")];
  drawing.setAttribute("viewBox", "0 0 24 24");
  drawing.setAttribute("aria-hidden", "true");
  path.setAttribute("d", ICON);
  drawing.append(path);
  return drawing;
}

class Voice {
  recogniser = null; // while it listens
  before = ""; // the text in the box before it listened
  hasText = false; // the recogniser has given a text

  constructor(box) {
    this.box = box;
    this.button = element("button", { type: "button", class: "voice", "aria-label": LABELS.idle, title: LABELS.idle }, icon());
    this.status = element("p", { role: "status", class: "voice-status" });
    this.dialog = this.question();
    box.after(this.button);
    box.form.append(this.status);
    document.body.append(this.dialog);
    this.button.addEventListener("click", () => this.pressed());
    box.addEventListener("input", () => this.say(""));
    box.addEventListener("blur", () => { if (!this.recogniser) this.say(""); });
    document.addEventListener("keydown", (event) => { if (event.key === "Escape" && this.recogniser) this.cancel(event); }, true);
    addEventListener("pagehide", () => this.recogniser?.abort());
  }

  question() {
    const start = element("button", { value: "start" }, "Start"); // both buttons close the dialog
    const cancel = element("button", { class: "plain" }, "Cancel");
    const dialog = element("dialog", { class: "voice-dialog", "aria-labelledby": "voice-title", "aria-describedby": "voice-text" },
      element("h2", { id: "voice-title" }, "Search by voice"),
      element("p", { id: "voice-text" }, "The maker of your browser may hear and process what you say: Chrome sends the audio to Google. This site gets only the text, when you press Search."),
      element("form", { method: "dialog" }, start, cancel));
    start.addEventListener("click", () => {
      sessionStorage.setItem(AGREED, "1");
      this.listen();
    });
    return dialog;
  }

  pressed() {
    if (this.recogniser) this.recogniser.stop(); // gives the text so far
    else if (sessionStorage.getItem(AGREED)) this.listen();
    else this.dialog.showModal();
  }

  listen() {
    const recogniser = new Recogniser();
    Object.assign(recogniser, { lang: navigator.language || document.documentElement.lang, interimResults: true, continuous: false });
    recogniser.addEventListener("result", (event) => this.heard(event.results));
    recogniser.addEventListener("error", (event) => this.failed(event.error));
    recogniser.addEventListener("end", () => this.ended());
    this.before = this.box.value;
    this.hasText = false;
    this.show(recogniser);
    this.say("Listening… Press Esc to cancel.");
    try {
      recogniser.start();
    } catch {
      this.failed("");
    }
  }

  heard(results) {
    if (!this.recogniser) return;
    const text = [...results].map((result) => result[0].transcript).join("").trim();
    if (!text) return;
    this.hasText = true;
    this.box.value = text.slice(0, this.box.maxLength);
    if (results[results.length - 1].isFinal) this.ended();
  }

  ended() {
    if (!this.recogniser) return;
    this.show(null);
    if (!this.hasText) {
      this.say(ERRORS["no-speech"]);
      return;
    }
    this.box.focus();
    this.say("Press Enter to search for this.");
  }

  failed(error) {
    if (!this.recogniser) return;
    this.show(null);
    this.box.value = this.before;
    this.say(ERRORS[error] ?? UNKNOWN_ERROR);
  }

  cancel(event) {
    event.preventDefault();
    event.stopPropagation(); // the box keeps the focus
    const recogniser = this.recogniser;
    this.failed("aborted");
    recogniser.abort();
  }

  show(recogniser) {
    this.recogniser = recogniser;
    const label = recogniser ? LABELS.listening : LABELS.idle;
    this.button.classList.toggle("listening", Boolean(recogniser));
    this.button.setAttribute("aria-label", label);
    this.button.title = label;
  }

  say(text) { this.status.textContent = text; }
}

const box = document.getElementById("q");
if (Recogniser && isSecureContext && box?.form) new Voice(box);
