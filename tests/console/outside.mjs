// What is outside of Gatehouse: receivers of webhooks, and a provider with OpenAI's interface. Started by scripts/test-console, for
// all tests. `PUT /hooks/name` tells a receiver what to answer from then on: {status, headers, body}. It answers 204 until then.
import { writeFileSync } from "node:fs";
import { createServer } from "node:http";

const receivers = new Map();

/** The provider refuses a text with this word. */
const REFUSED = "providerfault";

async function read(request) {
  const parts = [];
  for await (const part of request) parts.push(part);
  return Buffer.concat(parts).toString();
}

/** The categories that OpenAI scores in texts. */
const CATEGORIES = [
  "harassment", "harassment/threatening", "hate", "hate/threatening", "illicit", "illicit/violent", "self-harm", "self-harm/intent",
  "self-harm/instructions", "sexual", "sexual/minors", "violence", "violence/graphic",
];

/** The provider repeats the text wherever its answer has room for one: ids, categories, messages, headers. */
function moderate(response, text) {
  const refused = text.includes(REFUSED);
  const each = (value) => Object.fromEntries([...CATEGORIES, text].map((name) => [name, value]));
  const body = refused
    ? { error: { message: text, type: text, param: null, code: text } }
    : {
      id: text,
      model: text,
      results: [{ flagged: false, categories: each(false), category_scores: each(0.01), category_applied_input_types: each(["text"]) }],
    };
  response.writeHead(refused ? 400 : 200, { "content-type": "application/json", "x-request-id": encodeURIComponent(text.slice(0, 300)) });
  response.end(JSON.stringify(body));
}

const server = createServer(async (request, response) => {
  const { pathname } = new URL(request.url, "http://outside");
  const body = await read(request);
  if (pathname === "/v1/moderations") {
    return moderate(response, JSON.parse(body).input[0]);
  }
  if (request.method === "PUT") {
    receivers.set(pathname, JSON.parse(body));
    return response.writeHead(204).end();
  }
  const { status = 204, headers = {}, body: answer = "" } = receivers.get(pathname) ?? {};
  response.writeHead(status, headers);
  response.end(answer);
});

server.listen(0, "127.0.0.1", () => {
  writeFileSync(process.argv[2], `http://127.0.0.1:${server.address().port}`);
});
