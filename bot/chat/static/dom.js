// Elements from data. Text only ever becomes a text node: what documents and models say is never markup.

export function el(name, attributes = {}, ...children) {
  const node = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (key === "on") for (const [event, listener] of Object.entries(value)) node.addEventListener(event, listener);
    else node.setAttribute(key, value === true ? "" : String(value));
  }
  node.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false));
  return node;
}

// Markup that this server drew and escaped, as nodes. A parsed document runs no script and loads nothing.
export function drawn(html) {
  const parsed = new DOMParser().parseFromString(html, "text/html");
  return document.adoptNode(parsed.body.firstElementChild);
}

export function webUrl(url) {
  try {
    return ["http:", "https:"].includes(new URL(url).protocol) ? url : null;
  } catch {
    return null;
  }
}
