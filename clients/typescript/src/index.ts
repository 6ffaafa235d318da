/** A client of Gatehouse's interface for applications. */

import createClient, { type Client } from "openapi-fetch";

import type { components, paths } from "./document.js";

export { verifyWebhook, type WebhookPayload } from "./webhooks.js";

type Schemas = components["schemas"];
/** What is submitted: the members of `submit-media` without the key. */
export type Content = Omit<Schemas["SubmitRequest"], "api_key">;
/** The answer to a submission. */
export type Submitted = Schemas["Accepted"];
/** An item's status. */
export type MediaStatus = Schemas["MediaStatus"];
/** What is wrong with a request. */
export type Problem = Schemas["Problem"];

export interface Options {
  /** Where Gatehouse is, for example `https://moderation.example.com`. */
  url: string;
  /** The key of a site: `site_...`. */
  siteKey: string;
  /** How often a request is sent if it fails in passing. 5 if not given. */
  tries?: number;
  /** Sends the requests. The global `fetch` if not given. */
  fetch?: typeof fetch;
}

export interface Asking {
  /** Ends the wait. */
  signal?: AbortSignal;
}

export interface Submitting extends Asking {
  /** Names the submission: the same one with the same key is stored once within 24 hours. Random if not given. */
  idempotencyKey?: string;
  /** How many seconds the answer may wait for the verdict, at most 10. Not at all if not given. */
  wait?: number;
}

export interface Moderating extends Asking {
  idempotencyKey?: string;
  /** How many seconds to wait for the verdict in all. 60 if not given. */
  patience?: number;
}

/** The service refuses a request, or failed too often. */
export class Refused extends Error {
  constructor(
    /** The status of the answer. */
    readonly status: number,
    /** Why, for programs. */
    readonly code: string,
    detail: string,
    /** What is wrong with single members of the request. */
    readonly errors: Problem["errors"],
    /** Quote it when you ask the operator for help. */
    readonly requestId: string | undefined,
  ) {
    super(`${code}: ${detail}`);
    this.name = "Refused";
  }
}

/** The longest wait of one answer, in seconds. */
const LONGEST_WAIT = 10;
/** The pauses between questions and between tries, in seconds: the first and the longest. */
const FIRST_PAUSE = 0.5;
const LONGEST_PAUSE = 15;

export class Gatehouse {
  readonly #client: Client<paths>;
  readonly #key: string;
  readonly #tries: number;

  constructor(options: Options) {
    const baseUrl = `${options.url.replace(/\/+$/, "")}/functions/v1`;
    this.#client = createClient<paths>({ baseUrl, ...(options.fetch && { fetch: options.fetch }) });
    this.#key = options.siteKey;
    this.#tries = options.tries ?? 5;
  }

  /** Submits content. With `wait`, the answer may have the verdict. */
  async submit(content: Content, options: Submitting = {}): Promise<Submitted> {
    const header = {
      "Idempotency-Key": options.idempotencyKey ?? crypto.randomUUID(),
      ...(options.wait && { Prefer: `wait=${Math.ceil(options.wait)}` }),
    };
    const body = { ...content, api_key: this.#key };
    return this.#answered(options.signal, () =>
      this.#client.POST("/submit-media", { params: { header }, body, ...signalOf(options) }));
  }

  /** The status of an item. */
  async status(mediaId: string, options: Asking = {}): Promise<MediaStatus> {
    const body = { api_key: this.#key, media_id: mediaId };
    return this.#answered(options.signal, () => this.#client.POST("/get-media-status", { body, ...signalOf(options) }));
  }

  /** Submits content and waits for the verdict. If there is none in time, the status is `pending`. */
  async moderate(content: Content, options: Moderating = {}): Promise<Submitted> {
    const end = Date.now() + 1_000 * (options.patience ?? 60);
    const left = () => (end - Date.now()) / 1_000;
    const wait = Math.min(LONGEST_WAIT, Math.max(1, left()));
    let answer = await this.submit(content, { ...options, wait });
    for (let pause = FIRST_PAUSE; answer.status === "pending" && left() > 0; pause = Math.min(2 * pause, LONGEST_PAUSE)) {
      await sleep(Math.min(pause, left()), options.signal);
      const status = await this.status(answer.id, options);
      if (status.status !== "pending") {
        answer = { id: answer.id, status: status.status, message: "Moderated." };
        if (status.action) answer.action = status.action;
        if (status.moderationResult) answer.moderationResult = status.moderationResult;
      }
    }
    return answer;
  }

  /** Sends a request until it is answered or refused for good. */
  async #answered<T>(
    signal: AbortSignal | undefined,
    send: () => Promise<{ data?: T; error?: unknown; response: Response }>,
  ): Promise<T> {
    for (let number = 1, pause = FIRST_PAUSE; ; number += 1, pause = Math.min(2 * pause, LONGEST_PAUSE)) {
      let asked = 0;
      try {
        const { data, error, response } = await send();
        if (data !== undefined) return data;
        if (number >= this.#tries || !isPassing(response.status)) throw refused(response, error);
        asked = Number(response.headers.get("retry-after") ?? 0);
      } catch (error) {
        if (error instanceof Refused || signal?.aborted || number >= this.#tries) throw error;
      }
      await sleep(Math.max(asked, pause * (0.5 + Math.random() / 2)), signal);
    }
  }
}

function signalOf({ signal }: Asking): { signal?: AbortSignal } {
  return signal ? { signal } : {};
}

function isPassing(status: number): boolean {
  return status === 408 || status === 429 || status >= 500;
}

function refused(response: Response, error: unknown): Refused {
  const problem = (typeof error === "object" ? error : {}) as Partial<Problem>;
  const detail = problem.detail ?? `the answer is ${response.status}`;
  const id = problem.request_id ?? response.headers.get("x-request-id") ?? undefined;
  return new Refused(response.status, problem.code ?? "unknown", detail, problem.errors, id);
}

function sleep(seconds: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason);
    const stop = () => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener("abort", stop);
      resolve();
    }, 1_000 * seconds);
    signal?.addEventListener("abort", stop, { once: true });
  });
}
