// A comment form. Gatehouse moderates the comments and sends each verdict to /webhook.

import { randomUUID } from "node:crypto";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import { Webhook, WebhookVerificationError } from "standardwebhooks";

type Status = "pending" | "approved" | "rejected" | "pending_review";

interface Comment {
  text: string;
  status: Status;
  /** When the status was decided. Gatehouse's times have one format, so they sort as texts. */
  decidedAt: string;
}

interface WebhookEvent {
  event: string;
  timestamp: string;
  data: { app_media_id?: string; status?: Status };
}

function setting(name: string): string {
  const value = process.env[name];
  if (!value) throw new Error(`${name} is not set; see examples/README.md`);
  return value;
}

const gatehouseUrl = setting("GATEHOUSE_URL");
const siteKey = setting("GATEHOUSE_SITE_KEY");
const webhook = new Webhook(setting("GATEHOUSE_WEBHOOK_SECRET"));

// A real application keeps its comments in a database.
const comments = new Map<string, Comment>();

/** Submits the comment. Throws if Gatehouse does not accept it. */
async function submit(id: string, text: string): Promise<void> {
  const tries = 3;
  for (let number = 1; ; number += 1) {
    let answer: Response;
    try {
      answer = await fetch(`${gatehouseUrl}/submit-media`, {
        method: "POST",
        // The same key in each try: Gatehouse stores the comment once.
        headers: { "content-type": "application/json", "idempotency-key": id },
        body: JSON.stringify({ api_key: siteKey, body: text, app_media_id: id }),
        signal: AbortSignal.timeout(20_000),
      });
    } catch (error) {
      if (number === tries) throw error;
      await sleep(1_000);
      continue;
    }
    if (answer.ok) return;
    // 429 and 503 say when to try again. Other errors will not change.
    const wait = answer.headers.get("retry-after");
    if (wait === null || number === tries) throw new Error(`${answer.status}: ${await answer.text()}`);
    await sleep(Number(wait) * 1_000);
  }
}

async function addComment(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const text = new URLSearchParams((await rawBody(request)).toString()).get("text") ?? "";
  const id = randomUUID();
  // Stored first: the webhook can arrive before the answer to the submission.
  comments.set(id, { text, status: "pending", decidedAt: "" });
  try {
    await submit(id, text);
  } catch (error) {
    console.error("the comment was not submitted:", error);
    comments.delete(id);
    response.writeHead(503).end("Comments are not available at the moment. Please try again later.");
    return;
  }
  response.writeHead(303, { location: "/" }).end();
}

async function receiveWebhook(request: IncomingMessage, response: ServerResponse): Promise<void> {
  let event: WebhookEvent;
  try {
    // The signature is over the raw body, so it is checked before the body is parsed.
    event = webhook.verify(await rawBody(request), request.headers as Record<string, string>) as WebhookEvent;
  } catch (error) {
    if (!(error instanceof WebhookVerificationError)) throw error;
    response.writeHead(401).end();
    return;
  }
  const { app_media_id: id, status } = event.data;
  if (event.event === "media.moderated" && id && status) {
    const comment = comments.get(id);
    // A webhook can come twice, or after a newer one. The newest verdict counts.
    if (comment && event.timestamp >= comment.decidedAt) {
      comment.status = status;
      comment.decidedAt = event.timestamp;
    }
  }
  response.writeHead(204).end();
}

function showComments(response: ServerResponse): void {
  const shown = (comment: Comment): string => {
    switch (comment.status) {
      case "approved":
        return escaped(comment.text);
      case "rejected":
        return "This comment was removed.";
      case "pending_review":
        return "This comment is waiting for a person.";
      case "pending":
        return "This comment is being checked.";
    }
  };
  const items = [...comments.values()].map((comment) => `  <li data-status="${comment.status}">${shown(comment)}</li>\n`);
  response.writeHead(200, { "content-type": "text/html; charset=utf-8" }).end(`<!doctype html>
<title>Comments</title>
<h1>Comments</h1>
<form method="post" action="/comments">
  <textarea name="text" required></textarea>
  <button>Send</button>
</form>
<ul>
${items.join("")}</ul>
`);
}

function escaped(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}

async function rawBody(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}

async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  switch (`${request.method} ${request.url}`) {
    case "GET /":
      return showComments(response);
    case "POST /comments":
      return addComment(request, response);
    case "POST /webhook":
      return receiveWebhook(request, response);
    default:
      response.writeHead(404).end();
  }
}

createServer((request, response) => {
  answer(request, response).catch((error: unknown) => {
    console.error(error);
    if (!response.headersSent) response.writeHead(500);
    response.end();
  });
}).listen(Number(process.env.PORT ?? 3000), "127.0.0.1");
