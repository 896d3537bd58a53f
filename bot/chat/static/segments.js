// Offsets count Unicode code points, as everywhere in Attest; JavaScript strings count UTF-16 units.

export const points = (text) => Array.from(text);

export const slice = (text, start, end) => points(text).slice(start, end).join("");

// Cut text where marks begin and end: pieces {text, keys} whose texts joined are the text.
export function segments(text, marks) {
  const all = points(text);
  const inside = marks.filter((m) => m.start >= 0 && m.start < m.end && m.end <= all.length);
  const cuts = [...new Set([0, all.length, ...inside.flatMap((m) => [m.start, m.end])])].sort((a, b) => a - b);
  const pieces = [];
  for (let i = 0; i + 1 < cuts.length; i += 1) {
    const [begin, end] = [cuts[i], cuts[i + 1]];
    const keys = inside.filter((m) => m.start <= begin && end <= m.end).map((m) => m.key);
    pieces.push({ text: all.slice(begin, end).join(""), keys: [...new Set(keys)] });
  }
  return pieces;
}
