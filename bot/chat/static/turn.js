// One turn in the thread: the question, the stages as they pass, then the reply with everything behind it.

import { drawn, el, webUrl } from "./dom.js";
import { linkReport, showSource } from "./report.js";
import { reportRefusal } from "./stream.js";

export class TurnView {
  constructor(question, asked, as) {
    this.as = as;
    this.stages = el("ol", { class: "stages-line", "aria-label": "Progress" });
    this.body = el("div", { class: "turn-body" }, this.stages);
    this.node = el("article", { class: "turn", "aria-label": `Question: ${question}` },
      el("div", { class: "asked" }, el("p", {}, question), asked ? el("span", { class: "dim" }, asked) : null), this.body);
  }

  stage({ name, label }) {
    this.stages.querySelector(".now")?.classList.remove("now");
    this.stages.append(el("li", { class: "now", "data-stage": name }, label));
  }

  fail(error, retry) {
    this.body.replaceChildren(el("div", { class: "problem", role: "alert" },
      el("strong", {}, error.name === "AbortError" ? "Stopped" : "That did not work"), " ",
      el("span", {}, error.name === "AbortError" ? "You stopped this turn; nothing was answered." : error.message), " ",
      el("button", { type: "button", class: "quiet", on: { click: retry } }, "Ask again")));
  }

  // `shown` is the server's view of the reply: nothing is judged or put into words here.
  show(shown, seconds, { copy, complete, say }) {
    const reply = shown.reply;
    const tools = [shown.ask_back ? askBack(shown.ask_back, complete) : "",
      reply.contact_notice ? el("p", { class: "notice contacts" }, reply.contact_notice) : "",
      reply.web_notice ? el("p", { class: "notice from-web" }, reply.web_notice) : "", chips(reply.citations, "Citations")];
    if (reply.delivered) tools.push(el("div", { class: "row tools" },
      el("button", { type: "button", on: { click: (event) => copy(reply.for_customer, event.currentTarget) } }, "Copy as customer text")));
    if (!reply.delivered && reply.offered.length) tools.push(offered(reply));
    if (reply.suggestions.length) tools.push(el("div", { class: "row tools", role: "group", "aria-label": "What you may say next" },
      reply.suggestions.map((text) => el("button", { type: "button", class: "quiet", on: { click: () => say(text) } }, text))));
    if (reply.reportable) tools.push(wrongRefusal(reply, this.as));
    const map = drawn(shown.answer);
    map.querySelector(".answer").after(...tools);
    for (const list of map.querySelectorAll(".claim-list")) list.open = false;
    wireChips(map);
    this.node.classList.add(`o-${reply.outcome}`);
    this.body.replaceChildren(
      el("div", { class: "row head" }, el("span", { class: `badge o-${reply.outcome}` }, reply.word),
        el("span", { class: "dim" }, [reply.summary, `${seconds.toFixed(1)} s`].filter(Boolean).join(" · "))),
      reply.understood ? el("p", { class: "dim" }, reply.understood) : "",
      map,
      shown.draft ? draft(shown) : "",
      reply.internal.length ? internal(reply.internal) : "",
      behind(shown));
    for (const child of [...this.body.childNodes]) if (child.nodeType === Node.TEXT_NODE) child.remove();
    linkReport(this.body);
  }
}

function chips(citations, label) {
  if (!citations.length) return el("span", { hidden: true });
  return el("ul", { class: "chips", "aria-label": label }, citations.map((c) => el("li", {},
    el("button", { type: "button", class: `chip ${c.web ? "web" : "kb"}`, "data-chip": c.n, title: c.quote },
      el("span", { class: "n" }, String(c.n)), c.name, c.place ? el("span", { class: "dim" }, ` ${c.place}`) : null,
      c.web ? el("span", { class: "tag web" }, c.web) : null))));
}

function wireChips(map) {
  for (const name of ["click", "focusin"]) {
    map.addEventListener(name, (event) => {
      const chip = event.target.closest("[data-chip]");
      if (chip) showSource(map, chip.dataset.chip);
    });
  }
}

function offered(reply) {
  return el("div", { class: "offered" }, el("h3", {}, reply.offered_as || "Read these yourself"),
    chips(reply.offered, "Offered sources"));
}

function wrongRefusal(reply, as) {
  const comment = el("input", { maxlength: 2000, autocomplete: "off" });
  const button = el("button", { type: "submit", class: "quiet" }, "Report a wrong refusal");
  const said = el("p", { class: "dim", role: "status" });
  const send = async (event) => {
    event.preventDefault();
    button.disabled = true;
    try {
      await reportRefusal({ entry_id: reply.entry_id, comment: comment.value, ...(as ? { as } : {}) });
      form.replaceChildren(said);
      said.textContent = "Thank you. The refusal is reported, and a person will look at it.";
    } catch (error) {
      button.disabled = false;
      said.textContent = `That did not work: ${error.message}`;
    }
  };
  const form = el("form", { class: "wrong-refusal", on: { submit: send } },
    el("label", {}, "What did you want to know? (optional)", comment), button, said);
  return form;
}

function draft(shown) {
  const { outcome, struck } = shown.reply;
  const reasons = struck.map((claim) => el("li", {},
    el("span", { class: "status t-bad" }, claim.status), " ", el("del", {}, claim.text), " ", el("span", { class: "reason" }, claim.why)));
  return el("details", { class: "draft", open: outcome === "repaired" || outcome === "withheld" },
    el("summary", {}, "The draft before the check", el("span", { class: "tag" }, "never sent")),
    reasons.length ? el("ul", { class: "reasons" }, reasons) : null,
    drawn(shown.draft));
}

function internal(notes) {
  return el("aside", { class: "internal" }, el("h3", {}, "Internal, not for the customer"),
    notes.map((note) => el("blockquote", {}, el("p", {}, note.quote), el("footer", {}, note.title))));
}

function askBack({ question, options }, complete) {
  return el("section", { class: "ask-back", "aria-label": "Ask back" }, el("p", {}, el("strong", {}, "Ask back: "), question),
    options.length ? el("div", { class: "row" }, options.map(({ title, completed }) =>
      el("button", { type: "button", class: "quiet", title: completed, on: { click: () => complete(completed) } }, title))) : null,
    options.length ? el("p", { class: "dim" }, "A choice completes your question in the box below; nothing is sent yet.") : null);
}

function behind({ reply, decided }) {
  const times = Object.entries(reply.timings_ms);
  const most = Math.max(1, ...times.filter(([name]) => name !== "total").map(([, ms]) => ms));
  const fact = (name, value) => (value ? el("div", {}, el("dt", {}, name), el("dd", {}, value)) : null);
  return el("details", { class: "behind" }, el("summary", {}, "How this came about"),
    decided ? drawn(decided) : null,
    el("dl", { class: "facts" }, fact("Search query", reply.query), decided ? null : fact("Action", reply.action),
      fact("Relevance", typeof reply.relevance === "number" ? reply.relevance.toFixed(2) : null),
      fact("Knowledge base", reply.kb_version), fact("Ledger entry", reply.entry_id), fact("Models", reply.taken),
      Object.entries(reply.mode).map(([name, value]) => fact(name, value)),
      reply.notes.map((note) => fact("note", note))),
    times.length ? el("table", { class: "stages" }, el("tbody", {}, times.map(([name, ms]) => el("tr", {},
      el("th", { scope: "row" }, name), el("td", {}, name === "total" ? null : el("meter", { min: 0, max: most, value: ms })),
      el("td", { class: "num" }, `${ms.toFixed(1)} ms`))))) : null,
    reply.web.length ? el("ul", { class: "web-results" }, reply.web.map((w) => el("li", {},
      webUrl(w.url) ? el("a", { href: w.url, target: "_blank", rel: "noopener noreferrer" }, w.title) : w.title,
      " ", el("span", { class: "tag web" }, w.web), " ", el("span", { class: "dim" }, w.snippet)))) : null);
}
