// POST with an event stream as its answer. EventSource cannot post, so the events are read by hand.

export class ApiError extends Error {
  constructor(code, message) {
    super(message);
    this.code = code;
  }
}

export async function problem(response) {
  const body = await response.json().catch(() => null);
  const error = body?.error ?? {};
  return new ApiError(error.code ?? String(response.status), error.message ?? `the server answered ${response.status}`);
}

function parse(block) {
  const event = { name: "message", data: "" };
  for (const line of block.split("\n")) {
    if (line.startsWith("event: ")) event.name = line.slice(7);
    else if (line.startsWith("data: ")) event.data += line.slice(6);
  }
  return event.data ? { name: event.name, data: JSON.parse(event.data) } : null;
}

async function* events(body) {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return;
    rest += value;
    const blocks = rest.split("\n\n");
    rest = blocks.pop();
    for (const block of blocks) {
      const event = parse(block);
      if (event) yield event;
    }
  }
}

export async function askTurn(form, { onStage, signal }) {
  const response = await fetch("/api/ask", {
    method: "POST",
    headers: { "Content-Type": "application/json", Accept: "text/event-stream" },
    body: JSON.stringify(form),
    signal,
  });
  if (!response.ok) throw await problem(response);
  for await (const { name, data } of events(response.body)) {
    if (name === "stage") onStage(data);
    else if (name === "reply") return data;
    else if (name === "error") throw new ApiError(data.error.code, data.error.message);
  }
  throw new ApiError("cut", "the connection ended before the answer was complete");
}

async function post(url, data, accept) {
  const response = await fetch(url, {
    method: "POST",
    headers: { "Content-Type": "application/json", Accept: accept },
    body: JSON.stringify(data),
  });
  if (!response.ok) throw await problem(response);
  return response;
}

// The check's report as the page that the server draws of it.
export const checkDraft = async (form) => (await post("/api/check", form, "text/html")).text();

// The reply as the server draws it and puts it into words: {evidence, answer, draft, decided, ask_back, reply}.
export const viewOf = async (reply) => (await post("/chat/view", reply, "application/json")).json();

export const reportRefusal = async (form) => (await post("/api/refusals", form, "application/json")).json();

export async function getJson(url) {
  const response = await fetch(url);
  if (!response.ok) throw await problem(response);
  return response.json();
}
