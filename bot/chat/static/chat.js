// The page: asking, the thread, the history that is sent along, and the two tabs.

import { initCheck } from "./check.js";
import { el } from "./dom.js";
import { askTurn, getJson, viewOf } from "./stream.js";
import { TurnView } from "./turn.js";

const byId = (id) => document.getElementById(id);
const form = byId("ask-form");
const question = byId("question");
const thread = byId("thread");
const send = byId("send");
const stop = byId("stop");

let history = [];
let answered = "";
let evidence = [];
let running = null;

const announce = (text) => { byId("status").textContent = text; };
const check = initCheck({ lastEvidence: () => evidence, announce });

// "Customer: …" and "Agent: …" lines; a line without a name goes on with the turn before it.
function transcript(text) {
  const turns = [];
  for (const line of text.split("\n")) {
    const match = /^\s*(customer|agent)\s*:\s*(.*)$/i.exec(line);
    if (match) turns.push({ role: match[1].toLowerCase(), text: match[2] });
    else if (turns.length && line.trim()) turns.at(-1).text += `\n${line.trim()}`;
    else if (line.trim()) turns.push({ role: "customer", text: line.trim() });
  }
  return turns;
}

function formOf(text) {
  const value = (id) => byId(id).value.trim();
  const form = { question: text, history: [...transcript(byId("conversation").value), ...history] };
  if (answered) form.answered = answered;
  for (const [field, id] of [["as", "as-user"], ["product", "product"], ["context", "context"]]) {
    if (value(id)) form[field] = value(id);
  }
  return form;
}

function asked(form) {
  return [form.as ? `as ${form.as}` : "", form.product ?? ""].filter(Boolean).join(" · ");
}

async function copy(text, button) {
  const before = button.textContent;
  try {
    await navigator.clipboard.writeText(text);
    button.textContent = "Copied";
    announce("Copied as customer text, without markers.");
  } catch {
    button.textContent = "The browser refused";
  }
  setTimeout(() => { button.textContent = before; }, 1800);
}

// A completed question is put into the box and not sent: the person may still change it.
function complete(text) {
  question.value = text;
  fit();
  question.focus();
  question.setSelectionRange(text.length, text.length);
  announce("The question is in the box, completed. Press Enter to ask it.");
}

// What is said next is about another customer.
function forget() {
  history = [];
  answered = "";
  byId("conversation").value = "";
  byId("context").value = "";
}

function busy(on) {
  send.hidden = on;
  stop.hidden = !on;
  thread.setAttribute("aria-busy", String(on));
}

async function ask(text) {
  if (running) return;
  byId("welcome").hidden = true;
  const request = formOf(text);
  const view = new TurnView(text, asked(request), request.as);
  thread.append(view.node);
  view.node.scrollIntoView({ block: "start" });
  const control = new AbortController();
  running = control;
  busy(true);
  const began = performance.now();
  try {
    const reply = await askTurn(request, {
      signal: control.signal,
      onStage: (stage) => { view.stage(stage); announce(stage.label); },
    });
    const shown = await viewOf({ ...reply, question: text });
    if (running !== control) return;
    evidence = reply.entry_id ? shown.evidence : [];
    view.show(shown, (performance.now() - began) / 1000, { copy, complete, say: ask });
    view.node.scrollIntoView({ block: "start" });
    if (reply.intent === "new") forget();
    else if (!reply.intent) {
      history = [...history, { role: "user", text }, { role: "assistant", text: reply.answer }];
      answered = reply.entry_id;
    }
    announce([`${shown.reply.word}. ${reply.answer}`, shown.ask_back?.question].filter(Boolean).join(" "));
    check.refresh();
  } catch (error) {
    view.fail(error, () => { view.node.remove(); ask(text); });
    announce(error.name === "AbortError" ? "Stopped." : `That did not work: ${error.message}`);
  } finally {
    if (running === control) {
      running = null;
      busy(false);
    }
  }
}

form.addEventListener("submit", (event) => {
  event.preventDefault();
  const text = question.value.trim();
  if (!text || running) return;
  question.value = "";
  fit();
  ask(text);
});

question.addEventListener("keydown", (event) => {
  if (event.key === "Enter" && !event.shiftKey && !event.isComposing) {
    event.preventDefault();
    form.requestSubmit();
  }
});

function fit() {
  question.style.height = "auto";
  question.style.height = `${Math.min(question.scrollHeight + 2, 200)}px`;
}
question.addEventListener("input", fit);

stop.addEventListener("click", () => running?.abort());
document.addEventListener("keydown", (event) => {
  if (event.key === "Escape" && running) running.abort();
});

byId("new").addEventListener("click", () => {
  running?.abort();
  running = null;
  busy(false);
  forget();
  evidence = [];
  thread.replaceChildren();
  byId("welcome").hidden = false;
  check.refresh();
  openTab(byId("tab-ask"));
  question.focus();
  announce("New conversation.");
});

const tabs = [byId("tab-ask"), byId("tab-check")];

function openTab(chosen, focus = false) {
  for (const tab of tabs) {
    const on = tab === chosen;
    tab.setAttribute("aria-selected", String(on));
    tab.tabIndex = on ? 0 : -1;
    byId(tab.getAttribute("aria-controls")).hidden = !on;
  }
  if (focus) chosen.focus();
  check.refresh();
}

for (const tab of tabs) {
  tab.addEventListener("click", () => openTab(tab));
  tab.addEventListener("keydown", (event) => {
    const other = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (other) openTab(tabs[(tabs.indexOf(tab) + other + tabs.length) % tabs.length], true);
  });
}

function trySample(sample) {
  byId("as-user").value = sample.as ?? "";
  ask(sample.question);
}

const option = (value) => el("option", { value });

async function furnish() {
  const offer = await getJson("/chat/options");
  byId("users").replaceChildren(...offer.users.map(option));
  byId("products").replaceChildren(...offer.products.map(option));
  byId("mode").textContent = `${offer.documents} ${offer.documents === 1 ? "document" : "documents"} · ${offer.generator} · ${offer.policy}`;
  byId("samples").replaceChildren(...offer.samples.map((sample) =>
    el("li", {}, el("button", { type: "button", class: "sample", on: { click: () => trySample(sample) } },
      sample.question, sample.note ? el("span", { class: "tag" }, sample.note) : null))));
  byId("empty").hidden = offer.documents > 0;
}

furnish().catch((error) => announce(`The pickers could not be filled: ${error.message}`));
question.focus();
