// What a claim's status means for the reader: the same rule as in the ledger and the check.

const UNSUPPORTED = new Set(["wrong_role", "lookalike", "contradicted", "absent"]);
const DOUBTFUL = new Set(["conflict", "unchecked"]);
const CONTACT = new Set(["phone", "url", "email"]);

export function tone(claim) {
  if (UNSUPPORTED.has(claim.status)) return "bad";
  const struck = CONTACT.has(claim.kind) || (claim.kind === "money" && claim.status === "conflict");
  if (DOUBTFUL.has(claim.status)) return struck ? "bad" : "doubt";
  return "ok";
}

export const isValue = (claim) => claim.kind !== "statement";

// Reasons name sources by id; a person knows them by their number.
export function reason(claim, passages) {
  return passages.reduce((text, p) => (p.chunk_id ? text.replaceAll(p.chunk_id, `[${p.n}]`) : text), claim.why ?? "");
}

export const statusWord = (status) => status.replace("_", " ");
