// The picture of a check: the text on the left, the sources on the right, and what ties them.

import { isValue, reason, statusWord, tally, tone, toneOf } from "./claims.js";
import { el } from "./dom.js";
import { linkMap } from "./link.js";
import { segments, slice } from "./segments.js";

const CITE = /(\[\d{1,3}\])/;

function withCitations(text, passages) {
  return text.split(CITE).map((part) => {
    const n = CITE.test(part) ? part.slice(1, -1) : null;
    const known = n && passages.some((p) => String(p.n) === n);
    return known ? el("sup", { class: "cite", "data-cite": n }, n) : part;
  });
}

export function marked(text, claims, passages, { strike = false } = {}) {
  const marks = claims.map((c, i) => ({ start: c.start, end: c.end, key: String(i) }));
  return segments(text, marks).map((piece) => {
    const inside = withCitations(piece.text, passages);
    if (!piece.keys.length) return inside;
    const covering = piece.keys.map((key) => claims[Number(key)]);
    const mood = toneOf(covering);
    const value = covering.some(isValue);
    const name = strike && mood === "bad" ? "del" : "span";
    return el(name, {
      class: `claim ${value ? "value" : "statement"} t-${mood}`,
      "data-claims": piece.keys.join(" "),
      tabindex: value || mood === "bad" ? 0 : null,
    }, inside);
  });
}

export function claimList(claims, passages, open = false) {
  const count = tally(claims);
  const parts = [`${count.ok} supported`];
  if (count.doubt) parts.push(`${count.doubt} undecided`);
  if (count.bad) parts.push(`${count.bad} unsupported`);
  const items = claims.map((claim, i) => el("li", { "data-claims": i, class: `t-${tone(claim)}` },
    el("span", { class: `status t-${tone(claim)}` }, statusWord(claim.status)), " ",
    el("span", { class: "kind" }, claim.entity ?? claim.kind), " ",
    el("q", {}, claim.text),
    claim.value && claim.value !== claim.text ? el("span", { class: "dim" }, ` = ${claim.value}`) : null,
    " ", el("span", { class: "reason" }, reason(claim, passages))));
  return el("details", { class: "claim-list", open },
    el("summary", {}, `${claims.length} ${claims.length === 1 ? "claim" : "claims"} checked: ${parts.join(", ")}`),
    el("ol", {}, items));
}

function stands(span, passage) {
  // a highlight in the wrong place is worse than none: the characters must be the ones that were named
  const field = span.field === "title" ? passage.title ?? "" : passage.text;
  return span.source === passage.chunk_id && slice(field, span.start, span.end) === span.text;
}

function pieces(passage, claims, quotes, field) {
  const text = field === "title" ? passage.title ?? "" : passage.text;
  const marks = claims.flatMap((claim, i) => claim.evidence
    .filter((span) => span.field === field && stands(span, passage))
    .map((span) => ({ start: span.start, end: span.end, key: String(i) })));
  if (field === "text") {
    for (const quote of quotes) {
      const at = quote ? text.indexOf(quote) : -1;
      if (at >= 0) {
        const start = Array.from(text.slice(0, at)).length;
        marks.push({ start, end: start + Array.from(quote).length, key: "quote" });
      }
    }
  }
  return segments(text, marks).map((piece) => {
    const keys = piece.keys.filter((key) => key !== "quote");
    const quoted = piece.keys.includes("quote");
    if (!keys.length) return quoted ? el("span", { class: "cited" }, piece.text) : piece.text;
    const value = keys.some((key) => isValue(claims[Number(key)]));
    const look = ["ev", value ? "" : "soft", quoted ? "cited" : ""].filter(Boolean).join(" ");
    return el("span", { class: look, tabindex: value ? 0 : null, "data-claims": keys.join(" ") }, piece.text);
  });
}

export function passageCard(passage, claims, quotes = [], link = null) {
  const title = pieces(passage, claims, quotes, "title");
  return el("article", { class: "passage", "data-n": passage.n },
    el("h4", {}, el("span", { class: "n" }, String(passage.n)), " ", title.length ? title : "Untitled", " ",
      passage.locator && passage.locator !== passage.title ? el("span", { class: "dim" }, passage.locator) : null,
      passage.origin === "web" ? el("span", { class: "tag web" }, "web") : null,
      link ? el("a", { class: "open", href: link, target: "_blank", rel: "noopener" }, "in its document") : null),
    el("p", { class: "quote-text" }, pieces(passage, claims, quotes, "text")));
}

export function claimMap({ title, text, claims, passages, cards, strike = false, openList = false, tools = [] }) {
  const answer = el("p", { class: "answer" }, marked(text, claims, passages, { strike }));
  const root = el("div", { class: "map", "data-map": true },
    el("div", { class: "map-left" },
      title ? el("h3", {}, title) : null,
      answer,
      ...tools,
      claims.length ? el("div", { class: "why", "data-why": true, role: "status" },
        "Point at a marked value to see what supports it.") : null,
      claims.length ? claimList(claims, passages, openList) : null),
    el("div", { class: "map-right", tabindex: 0, role: "region", "aria-label": "Evidence" },
      el("h3", {}, "Evidence"),
      cards.length ? cards : el("p", { class: "dim" }, "No passage stands behind this.")));
  linkMap(root);
  return root;
}
