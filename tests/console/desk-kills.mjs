// Two moderators press keys on the review desk in Chromium, while the service is killed again and again. `scripts/test-desk-kills` runs
// this with: the program, an empty directory, the number of items.
import { deepStrictEqual, ok, strictEqual } from "node:assert";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createServer } from "node:net";
import { createInterface } from "node:readline";

const [program, directory, wanted] = process.argv.slice(2);
const ITEMS = Number(wanted);
const HELD_SECONDS = 2;
/** The service lives for so long between two kills: seconds, at least and at most. */
const LIVES = [4, 12];

const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

async function freePort() {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address();
  server.close();
  await once(server, "close");
  return port;
}

/** `gatehouse up` on the same ports each time. */
const ports = [await freePort(), await freePort(), await freePort()];
async function start() {
  const [listen, metrics, console_] = ports.map((port) => `127.0.0.1:${port}`);
  // The check at the end asks for every item.
  const often = ["--management-requests-per-token", "1000000", "--management-requests-per-team", "1000000"];
  const args = ["up", ...often, "--data-dir", `${directory}/data`, "--listen", listen, "--metrics-listen", metrics, "--console-listen", console_];
  const service = spawn(program, args, { stdio: ["ignore", "pipe", "ignore"] });
  const ended = once(service, "exit");
  let link = null;
  // It says that it is up, and after that where the first person begins, if there is none yet.
  await new Promise((resolve, reject) => {
    service.once("exit", () => reject(new Error("the service does not start")));
    createInterface(service.stdout).on("line", (line) => {
      link ??= line.match(/http:\S+\/links\/\S+/)?.[0] ?? null;
      if (line.startsWith("Gatehouse is up")) setTimeout(resolve, 500);
    });
  });
  return { service, ended, link };
}

let running = await start();
ok(running.link, "the service does not start");
process.env.GATEHOUSE_CONSOLE_LINK = running.link;
process.env.GATEHOUSE_DEMO = `${directory}/data/demo.json`;
process.env.CONSOLE_STATE = directory;
const { launch } = await import("./browser.mjs");
const { newTeam, newcomer } = await import("./people.mjs");
const { manage, submit, until } = await import("./service.mjs");

const browser = await launch();
const { token, id: team, at } = await newTeam(browser, "Kills");
const rule = { name: "Doubt", type: "keyword", keywords: ["doubt"], effect: "review" };
const group = await manage("POST", "/rule-groups", { name: "House rules", rules: [rule] }, token);
const site = await manage("POST", "/sites", { name: "Forum", default_rule_group_id: group.id }, token);
const { secret: key } = await manage("POST", `/sites/${site.id}/keys`, undefined, token);
await manage("POST", "/policies", { code: "spam", name: "Spam", reason: "It is spam.", key: 1 }, token);
await manage("PATCH", `/sites/${site.id}/desk`, { undo_seconds: HELD_SECONDS }, token);
const waiting = async () => (await manage("GET", "/reviews/waiting", undefined, token)).data.reduce((sum, part) => sum + part.reviews, 0);

// A key may submit 1,000 items a minute.
for (let number = 0; number < ITEMS; number += 1) {
  for (;;) {
    try {
      await submit({ body: `doubt ${number}` }, key);
      break;
    } catch (error) {
      if (!String(error).includes("429")) throw error;
      await pause(2_000);
    }
  }
}
await until("all items wait", async () => (await waiting()) === ITEMS, 300);
const people = [];
for (const name of ["grace", "edsger"]) people.push(await newcomer(browser, `${name}@example.com`, "moderator", { token, name }));
console.log(`${ITEMS} items wait in team ${team}; two moderators begin`);

let isOver = false;
let kills = 0;
const killer = (async () => {
  while (!isOver) {
    await pause((LIVES[0] + Math.random() * (LIVES[1] - LIVES[0])) * 1_000);
    if (isOver) return;
    running.service.kill("SIGKILL");
    await running.ended;
    kills += 1;
    running = await start();
  }
})();

/** The texts that were shown to anybody. */
const shown = new Set();

/** Presses keys until every item was shown and nothing is offered any more: which texts this person was shown, and what was pressed. */
async function moderate({ page }) {
  const seen = new Map();
  const isReview = () => /\/desk\/[0-9a-f-]{36}/.test(page.url());
  let presses = 0;
  for (;;) {
    try {
      if (!isReview()) {
        await page.goto(at("desk"), { timeout: 10_000 });
        await page.getByRole("button", { name: "Start" }).click({ timeout: 5_000 });
        await page.waitForURL(/\/desk(\/[0-9a-f-]{36}|\?)/, { timeout: 10_000 });
        if (!isReview()) {
          if (shown.size === ITEMS) return { seen, presses };
          await pause(500);
          continue;
        }
      }
      const text = await page.locator(".said").innerText({ timeout: 2_000 });
      seen.set(text, (seen.get(text) ?? 0) + 1);
      shown.add(text);
      const before = page.url();
      await page.keyboard.press(presses % 2 ? "1" : "a");
      presses += 1;
      await page.waitForURL((url) => url.href !== before, { timeout: 5_000 });
    } catch {
      // The service is down, or the answer did not arrive. The person begins again.
      await pause(200);
      await page.goto("about:blank").catch(() => {});
    }
  }
}

const begun = Date.now();
const [one, other] = await Promise.all(people.map(moderate));
const seconds = Math.round((Date.now() - begun) / 1_000);
isOver = true;
await killer;
// Jobs of a killed process run again when its lease is over.
await until("nothing waits", async () => (await waiting()) === 0, 180);

const both = [...one.seen.keys()].filter((text) => other.seen.has(text));
deepStrictEqual(both, [], "the same item was shown to both");
strictEqual(one.seen.size + other.seen.size, ITEMS, "every item was shown");

/** All pages of a list. */
async function all(path) {
  const found = [];
  for (let cursor = ""; ;) {
    const page = await manage("GET", `${path}${cursor && `&cursor=${encodeURIComponent(cursor)}`}`, undefined, token);
    found.push(...page.data);
    cursor = page.next_cursor;
    if (!cursor) return found;
  }
}
const items = await all(`/media?limit=100&site_id=${site.id}`);
strictEqual(items.length, ITEMS);
deepStrictEqual(items.filter((item) => !["approved", "rejected"].includes(item.status)), [], "items that nobody decided");
const wrong = [];
for (const { id } of items) {
  const { verdicts, events } = await manage("GET", `/media/${id}`, undefined, token);
  const decided = verdicts.filter((verdict) => verdict.moderation_type === "manual");
  // One event tells that the item waits, and one what the person said.
  const told = events.filter(({ kind }) => kind === "media.moderated");
  if (decided.length !== 1 || told.length !== 2) wrong.push({ id, verdicts, events });
}
deepStrictEqual(wrong, [], "items without exactly one verdict and one event of a person");
console.log(`${one.seen.size} + ${other.seen.size} items decided with ${one.presses} + ${other.presses} keys in ${seconds} s, ${kills} kills: none shown to both, none lost, each told once`);
await browser.close();
running.service.kill("SIGTERM");
await running.ended;
