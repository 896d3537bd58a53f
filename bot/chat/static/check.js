// "Check a draft": the provenance check on its own, on a text and sources that a person pastes.

import { el } from "./dom.js";
import { linkReport } from "./report.js";
import { checkDraft } from "./stream.js";

export function initCheck({ lastEvidence, announce }) {
  const form = document.getElementById("check-form");
  const list = document.getElementById("sources");
  const result = document.getElementById("check-result");
  const reuse = document.getElementById("use-evidence");
  let count = 0;

  const addSource = (title = "", text = "", focus = false) => {
    count += 1;
    const label = `Source ${count}`;
    const node = el("fieldset", { class: "source" }, el("legend", {}, label),
      el("label", {}, "Title", el("input", { name: "title", value: title, autocomplete: "off" })),
      el("label", {}, "Text", el("textarea", { name: "text", rows: 5 })),
      el("button", { type: "button", class: "quiet", on: { click: () => node.remove() } }, `Remove ${label.toLowerCase()}`));
    node.querySelector("textarea").value = text;
    list.append(node);
    if (focus) node.querySelector("input").focus();
  };

  const typed = () => [...list.querySelectorAll(".source")]
    .map((node, i) => ({
      id: `s${i + 1}`,
      title: node.querySelector("input").value.trim(),
      text: node.querySelector("textarea").value,
    }))
    .filter((source) => source.text.trim());

  const sources = () => (reuse.checked
    ? lastEvidence().map((p) => ({ id: p.chunk_id, title: p.title ?? "", text: p.text }))
    : typed());

  const refresh = () => {
    const available = lastEvidence().length;
    reuse.disabled = !available;
    if (!available) reuse.checked = false;
    document.getElementById("use-evidence-note").textContent = available
      ? `${available} ${available === 1 ? "passage" : "passages"} of the last answer`
      : "ask something first";
    list.hidden = reuse.checked;
    document.getElementById("add-source").hidden = reuse.checked;
  };

  const show = (page) => {
    const report = new DOMParser().parseFromString(page, "text/html").querySelector("[data-report]");
    result.replaceChildren(document.adoptNode(report));
    linkReport(result);
    const { claimsChecked, unsupported } = report.dataset;
    announce(`${report.querySelector(".badge").textContent}. ${claimsChecked} claims checked, ${unsupported} unsupported.`);
  };

  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    const answer = form.elements.answer.value;
    const question = form.elements.question.value.trim();
    const given = sources();
    if (!answer.trim() || !given.length) {
      const missing = answer.trim() ? "Give at least one source to check against." : "Paste the draft first.";
      result.replaceChildren(el("p", { class: "problem", role: "alert" }, missing));
      return;
    }
    const button = form.querySelector("button[type=submit]");
    button.disabled = true;
    try {
      show(await checkDraft({ id: "draft", answer, question: question || undefined, sources: given }));
    } catch (error) {
      result.replaceChildren(el("p", { class: "problem", role: "alert" }, error.message));
    } finally {
      button.disabled = false;
    }
  });

  form.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) form.requestSubmit();
  });
  reuse.addEventListener("change", refresh);
  document.getElementById("add-source").addEventListener("click", () => addSource("", "", true));
  document.getElementById("check-example").addEventListener("click", () => {
    list.replaceChildren();
    count = 0;
    reuse.checked = false;
    refresh();
    addSource("Returns", "You can return an unused item within 30 days of delivery. Refunds reach your card in 5 to 7 working days. "
      + "Return shipping costs €4.90. Questions: +44 20 7946 0018 or returns@northwind.example.");
    form.elements.answer.value = "You have 30 days from delivery to send it back. Return shipping costs €5.90. "
      + "Call +44 20 7946 0081 if anything is unclear.";
    form.elements.answer.focus();
  });
  addSource();
  refresh();
  return { refresh };
}
