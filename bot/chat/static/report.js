// Ties the two sides of a report together: point at a value, see its source; point at the source, see the value.
// Works on any element with [data-map] whose pieces carry data-claims. Without it the pieces are plain links.

const LINES = 4;

const keysOf = (node) => (node?.dataset.claims ?? "").split(" ").filter(Boolean);
const rowOf = (root, key) => root.querySelector(`.claim-list li[data-claims="${CSS.escape(key)}"]`);

const LEAST_HEIGHT = 180;

// Scrolls the pane, never the page, for the page would move away under the pointer. A pane that reaches below the
// screen ends at its edge from then on.
function reveal(pane, node) {
  if (!pane || !node) return;
  if (getComputedStyle(pane).overflowY === "auto") {
    pane.style.maxHeight = "";
    const frame = pane.getBoundingClientRect();
    const room = window.innerHeight - Math.max(frame.top, 0) - 8;
    if (frame.height > room && room > LEAST_HEIGHT) pane.style.maxHeight = `${room}px`;
  }
  if (pane.scrollHeight <= pane.clientHeight) return;
  const [frame, at] = [pane.getBoundingClientRect(), node.getBoundingClientRect()];
  const [top, bottom] = [Math.max(frame.top, 0), Math.min(frame.bottom, window.innerHeight)];
  if (at.top < top || at.bottom > bottom - 10) pane.scrollTop += at.top - top - (bottom - top) / 3;
}

// The source's characters with a few before and after, for narrow screens where the evidence is far away.
function context(root, key) {
  const mark = root.querySelector(`.quote-text .ev[data-claims~="${CSS.escape(key)}"]`);
  if (!mark) return [];
  const passage = mark.closest(".quote-text");
  const range = document.createRange();
  range.setStart(passage, 0);
  range.setEndBefore(mark);
  const before = range.toString().slice(-60);
  range.setStartAfter(mark);
  range.setEnd(passage, passage.childNodes.length);
  const after = range.toString().slice(0, 60);
  const strong = document.createElement("mark");
  strong.textContent = mark.textContent;
  const number = mark.closest(".passage")?.querySelector(".n")?.textContent;
  const line = document.createElement("span");
  line.className = "source-line";
  line.append(number ? `[${number}] …` : "…", before, strong, after, "…");
  return [line];
}

// A value inside a sentence is pointed at for itself: its sentence would light up half the source.
function narrow(root, keys) {
  const values = keys.filter((key) => rowOf(root, key)?.dataset.kind !== "statement");
  return values.length ? values : keys;
}

function explain(root, keys, pinned) {
  const box = root.querySelector("[data-why]");
  if (!box) return;
  box.hidden = false;
  box.classList.toggle("on", keys.length > 0);
  box.classList.toggle("pinned", pinned);
  if (!keys.length) {
    box.textContent = box.dataset.hint;
    return;
  }
  const shown = keys.slice(0, LINES).flatMap((key) => {
    const row = rowOf(root, key);
    if (!row) return [];
    const line = document.createElement("span");
    line.className = "why-line";
    line.append(...[...row.childNodes].map((node) => node.cloneNode(true)), ...context(root, key));
    return [line];
  });
  if (keys.length > LINES) shown.push(box.dataset.more.replace("{n}", keys.length - LINES));
  box.replaceChildren(...shown);
}

// The card stays in sight below the answer; where it would lie over what is pointed at, it goes above it.
function place(box, node) {
  box.style.transform = "";
  if (!box.classList.contains("on") || !node) return;
  const [card, at] = [box.getBoundingClientRect(), node.getBoundingClientRect()];
  if (card.top < at.bottom && at.top < card.bottom) box.style.transform = `translateY(${at.top - 10 - card.bottom}px)`;
}

// Brings a source of the map into view and marks its title.
export function showSource(root, n) {
  const card = root.querySelector(`.passage[data-n="${CSS.escape(n)}"]`);
  if (!card) return;
  for (const other of root.querySelectorAll(".passage.lit")) other.classList.remove("lit");
  card.classList.add("lit");
  card.scrollIntoView({ block: "nearest" });
}

function unfold(button) {
  const gaps = [...button.closest(".passage").querySelectorAll("details.gap")];
  const open = gaps.some((gap) => !gap.open);
  for (const gap of gaps) gap.open = open;
  button.textContent = open ? button.dataset.fold : button.dataset.all;
  button.setAttribute("aria-expanded", String(open));
}

function linkMap(root) {
  let pinned = [];
  const show = (pointed, from) => {
    const keys = narrow(root, pointed);
    for (const node of root.querySelectorAll("[data-claims]")) {
      node.classList.toggle("on", keysOf(node).some((key) => keys.includes(key)));
    }
    explain(root, keys, pinned.length > 0 && pointed === pinned);
    const box = root.querySelector("[data-why]");
    if (box) place(box, from);
    if (!from || !keys.length) return;
    const [left, right] = [root.querySelector(".map-left"), root.querySelector(".map-right")];
    if (right?.contains(from)) reveal(left, left.querySelector(".answer .on"));
    else reveal(right, right?.querySelector(".ev.on"));
  };
  const target = (event) => event.target.closest?.("[data-claims]");
  root.addEventListener("pointerover", (event) => {
    const node = target(event);
    if (node && event.pointerType !== "touch") show(keysOf(node), node);
  });
  root.addEventListener("pointerout", (event) => {
    if (target(event) && !event.relatedTarget?.closest?.("[data-claims]")) show(pinned);
  });
  root.addEventListener("focusin", (event) => {
    const node = target(event);
    if (node) show(keysOf(node), node);
  });
  root.addEventListener("focusout", () => show(pinned));
  root.addEventListener("click", (event) => {
    const button = event.target.closest("[data-unfold]");
    if (button) unfold(button);
    const cite = event.target.closest(".cite");
    if (cite) {
      event.preventDefault();
      showSource(root, cite.dataset.cite);
    }
    const node = target(event);
    if (!node && event.target.closest("a, button, summary, .why")) return;
    // the links are for pages without a script; with it, a click keeps what is lit
    if (node && !event.ctrlKey && !event.metaKey && !event.shiftKey) event.preventDefault();
    pinned = node ? keysOf(node) : [];
    show(pinned, node);
  });
  root.addEventListener("keydown", (event) => {
    if (event.key !== "Escape") return;
    pinned = [];
    show([]);
  });
  explain(root, [], false);
}

const linked = new WeakSet();

// Link every map below `root`, once.
export function linkReport(root) {
  for (const button of root.querySelectorAll("[data-unfold]")) button.hidden = false;
  for (const map of root.querySelectorAll("[data-map]")) {
    if (linked.has(map)) continue;
    linked.add(map);
    linkMap(map);
  }
}

linkReport(document);
