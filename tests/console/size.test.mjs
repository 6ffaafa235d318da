// Pages are small, also those of a team that has much, and load nothing from elsewhere.
import { deepStrictEqual, ok, strictEqual } from "node:assert";
import { after, before, test } from "node:test";
import { gzipSync } from "node:zlib";
import { launch, watched } from "./browser.mjs";
import { crawl } from "./crawl.mjs";
import { scales } from "./looks.mjs";
import { asAda, newTeam } from "./people.mjs";
import { manage, receiver, service, submit, until } from "./service.mjs";

const FULL = { skip: process.env.SHORT === "1" && "not in the short form" };
/** Bytes of all assets together, compressed. */
const MOST_ASSETS = 20_000;

let browser;
before(async () => {
  browser = await launch();
});
after(() => browser?.close());

test("a page has three assets, which are small and are kept by the browser", async () => {
  const context = await asAda(browser);
  const { page } = await watched(context);
  await page.goto(`${service.origin}/account`);
  const assets = await page.locator("link[rel=stylesheet], link[rel=icon], script[src]").evaluateAll((all) => all.map((one) => one.href || one.src));
  strictEqual(assets.length, 3, assets.join(" "));
  let bytes = 0;
  for (const url of assets) {
    const answer = await fetch(url);
    ok(answer.headers.get("cache-control").includes("immutable"), url);
    bytes += gzipSync(Buffer.from(await answer.arrayBuffer())).length;
  }
  ok(bytes <= MOST_ASSETS, `${bytes} bytes of assets`);
  await context.close();
});

/** Texts as they come: none is like the one before, so that they compress no better than in life. */
function prose(number, words) {
  const vocabulary = "buy sell cheap watch replica garden house river mountain letter question answer winter summer blue green fast slow near far music paper window table bridge engine harbour market friend".split(" ");
  let state = number * 2_654_435_761 % 4_294_967_296;
  const next = () => (state = (state * 1_664_525 + 1_013_904_223) % 4_294_967_296);
  return Array.from({ length: words }, () => vocabulary[Math.floor(next() / 4_294_967_296 * vocabulary.length)]).join(" ");
}

test("the pages of a team with 20 sites, 100 rules and long lists are small, too", FULL, async () => {
  const { id, token, owner } = await newTeam(browser, "Large");
  const call = (method, path, body) => manage(method, path, body, token);
  const many = (count, make) => Promise.all(Array.from({ length: count }, (_, number) => make(number)));
  const rules = Array.from({ length: 100 }, (_, number) => ({
    name: `Rule ${number} about ${prose(number, 3)}`, type: "keyword", keywords: Array.from({ length: 10 }, (_, place) => `${prose(number * 10 + place, 2)} ${place}`), effect: "review",
  }));
  const group = await call("POST", "/rule-groups", { name: "House rules", rules });
  const draft = await call("GET", `/rule-groups/${group.id}/draft`);
  await call("PUT", `/rule-groups/${group.id}/draft`, {
    rules: draft.rules.map((rule, place) => (place % 2 ? rule : { ...rule, name: `${rule.name} and more` })), revision: draft.revision,
  });
  const [site, ...others] = await many(20, (number) => call("POST", "/sites", { name: `Site ${number} ${prose(number, 3)}`, default_rule_group_id: group.id }));
  await many(60, (number) => call("POST", "/rule-groups", { name: `Group ${number} ${prose(number, 3)}` }));
  const { secret: key } = await call("POST", `/sites/${site.id}/keys`);
  await many(19, () => call("POST", `/sites/${site.id}/keys`).catch(() => null));
  const { url, answers } = receiver(id);
  await answers({ status: 500, body: prose(1, 300) });
  await many(10, (number) => call("POST", `/sites/${site.id}/webhook-endpoints`, { url: `${url}?${number}`, description: prose(number, 8) }));
  await many(19, (number) => call("POST", `/sites/${others[number].id}/webhook-endpoints`, { url: `${url}?${number}`, description: prose(number, 8) }));
  await many(60, (number) => submit({ body: prose(number, 120), app_media_id: `comment-${number}`, metadata: { author: prose(number, 2), thread: number } }, key));
  await many(60, (number) => call("POST", "/tokens", { name: prose(number, 3), scopes: ["sites:read", "rules:read"] }));
  await many(60, (number) => call("POST", "/invitations", { email: `person-${number}@example.com`, role: "viewer" }));
  const lists = await many(60, (number) => call("POST", "/hash-lists", { name: `List ${number} ${prose(number, 3)}`, kind: "deny", description: prose(number, 8) }));
  await many(60, (number) => call("POST", `/hash-lists/${lists[0].id}/entries`, { sha256: number.toString(16).padStart(64, "0"), note: prose(number, 8) }));
  const { data } = await call("GET", "/media?limit=100");
  await until("all is judged", async () => (await call("GET", "/media?limit=100")).data.every(({ status }) => status !== "pending"));
  ok(data.length === 60);

  const { page, faults } = await watched(owner.context);
  const { ask, weigh } = scales(page);
  const large = [];
  const opened = await crawl(page, { from: `/t/${id}/overview`, within: `/t/${id}/`, ask }, async (path, answer) => {
    large.push(...(await weigh(answer)).map((what) => `${path}: ${what}`));
  });
  deepStrictEqual(large, []);
  deepStrictEqual(faults, []);
  ok(opened.length > 40, opened.join(" "));
});
