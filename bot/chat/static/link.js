// Ties the two sides of a map together: point at a value, see its source; point at the source, see the value.
// Works on any element with [data-map] whose pieces carry data-claims, drawn by the server or in the page.

const HINT = "Point at a marked value to see what supports it.";

const keysOf = (node) => (node?.dataset.claims ?? "").split(" ").filter(Boolean);

function reveal(pane, node) {
  if (!pane || !node || pane.scrollHeight <= pane.clientHeight) return;
  const offset = node.getBoundingClientRect().top - pane.getBoundingClientRect().top;
  if (offset < 0 || offset > pane.clientHeight - 40) pane.scrollTop += offset - pane.clientHeight / 3;
}

// The source's characters with a few before and after, for narrow screens where the evidence is far away.
function context(root, key) {
  const mark = root.querySelector(`.ev[data-claims~="${CSS.escape(key)}"]`);
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
  const values = keys.filter((key) => {
    const kind = root.querySelector(`li[data-claims="${CSS.escape(key)}"] .kind`);
    return kind && kind.textContent !== "statement";
  });
  return values.length ? values : keys;
}

function explain(root, keys) {
  const box = root.querySelector("[data-why]");
  if (!box) return;
  if (!keys.length) {
    box.textContent = HINT;
    box.classList.remove("on");
    return;
  }
  const items = keys.map((key) => root.querySelector(`li[data-claims="${CSS.escape(key)}"]`)).filter(Boolean);
  const lines = items.slice(0, 4).map((item) => {
    const line = document.createElement("span");
    line.className = "why-line";
    line.append(...[...item.childNodes].map((node) => node.cloneNode(true)), ...context(root, item.dataset.claims));
    return line;
  });
  box.replaceChildren(...lines);
  box.classList.add("on");
}

export function linkMap(root) {
  let pinned = [];
  const show = (pointed, from) => {
    const keys = narrow(root, pointed);
    for (const node of root.querySelectorAll("[data-claims]")) {
      node.classList.toggle("on", keysOf(node).some((key) => keys.includes(key)));
    }
    explain(root, keys);
    if (!from || !keys.length) return;
    const right = root.querySelector(".map-right");
    if (!right?.contains(from)) reveal(right, right?.querySelector(".ev.on"));
  };
  const target = (event) => event.target.closest?.("[data-claims]");
  root.addEventListener("pointerover", (event) => {
    const node = target(event);
    if (node) show(keysOf(node), node);
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
    const node = target(event);
    if (!node && event.target.closest("a, button, summary, .why")) return;
    pinned = node ? keysOf(node) : [];
    show(pinned, node);
  });
  root.addEventListener("keydown", (event) => {
    if (event.key !== "Escape") return;
    pinned = [];
    show([]);
  });
}
