// People of the console, and teams for them. They are made as in life: by links that somebody hands over.
import { ok, strictEqual } from "node:assert";
import { createHmac } from "node:crypto";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { send, watched } from "./browser.mjs";
import { manage, service } from "./service.mjs";

export const PASSWORD = "kelp otter violin";
/** The first person. */
export const ADA = { email: "ada@example.com", name: "Ada Lindqvist" };

/** The code of an authenticator app, now or so many steps of 30 seconds later. */
export function totp(secret, later = 0) {
  const digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";
  const bits = [...secret].map((digit) => digits.indexOf(digit).toString(2).padStart(5, "0")).join("");
  const key = Buffer.from(bits.match(/.{8}/g).map((byte) => parseInt(byte, 2)));
  const step = Buffer.alloc(8);
  step.writeBigUInt64BE(BigInt(Math.floor(Date.now() / 30_000) + later));
  const mac = createHmac("sha1", key).update(step).digest();
  const code = mac.readUInt32BE(mac[19] & 15) & 0x7fffffff;
  return String(code % 1_000_000).padStart(6, "0");
}

/** Sets up the second factor on its page: the app's secret and the recovery codes. */
async function setUpFactor(page) {
  await page.getByRole("button", { name: /set up/i }).click();
  const secret = (await page.locator("input[name=secret]").inputValue()).replace(/\s/g, "");
  await page.locator("input[name=code]").fill(totp(secret));
  await page.getByRole("button", { name: "Confirm" }).click();
  const codes = await page.locator("li code").allInnerTexts();
  strictEqual(codes.length, 10);
  return { secret, codes };
}

/** The first person, who follows the printed link before the first test that asks: a session, recovery codes, and how many fields it took.
 *  All files of tests share this person. */
export async function ada(browser) {
  const file = `${process.env.CONSOLE_STATE}/ada.json`;
  if (existsSync(file)) return JSON.parse(readFileSync(file, "utf8"));
  const context = await browser.newContext();
  const { page, faults } = await watched(context);
  await page.goto(service.link);
  let fields = 0;
  const type = async (label, text) => {
    fields += 1;
    await page.getByLabel(label).fill(text);
  };
  await type("Your e-mail address", ADA.email);
  await type("Your name", ADA.name);
  await type(/^A password/, PASSWORD);
  await page.getByRole("button", { name: "Go on" }).click();
  const { codes } = await setUpFactor(page);
  await page.getByRole("link", { name: "I have kept them" }).click();
  const person = { storageState: await context.storageState(), codes, fields: fields + 1, faults, home: page.url() };
  writeFileSync(file, JSON.stringify(person));
  await context.close();
  return person;
}

/** A context in which the first person is signed in. */
export async function asAda(browser, options) {
  const { storageState } = await ada(browser);
  return browser.newContext({ storageState, ...options });
}

/** A recovery code of the first person. Each works once. */
export function recoveryCode() {
  const file = `${process.env.CONSOLE_STATE}/ada.json`;
  const person = JSON.parse(readFileSync(file, "utf8"));
  const code = person.codes.pop();
  writeFileSync(file, JSON.stringify(person));
  return code;
}

/** Signs in, with a code if the person has a second factor. */
export async function signIn(page, email, code) {
  await page.goto(`${service.origin}/sign-in`);
  await page.locator("input[name=email]").fill(email);
  await page.locator("input[name=password]").fill(PASSWORD);
  await page.getByRole("button", { name: "Sign in" }).click();
  if (!code) return;
  await page.locator("input[name=code]").fill(code);
  await page.getByRole("button", { name: "Continue" }).click();
}

/** Somebody new, who has followed a link: a context in which the person is signed in, an open page, and the second factor if there is one. */
export async function join(browser, link, { name = "Grace", ...options } = {}) {
  const context = await browser.newContext(options);
  const { page, faults } = await watched(context);
  await page.goto(link);
  await page.getByLabel("Your name").fill(name);
  await page.getByLabel(/^A password/).fill(PASSWORD);
  await page.getByRole("button", { name: "Join" }).click();
  const factor = page.url().endsWith("/account/factor") ? await setUpFactor(page) : null;
  await page.goto(service.origin);
  return { context, page, faults, ...factor };
}

/** Somebody new with this role in a team: in the demo team, or in one of `newTeam`. */
export async function newcomer(browser, email, role, { token, ...options } = {}) {
  const { secret } = await manage("POST", "/invitations", { email, role }, token);
  return join(browser, `${service.origin}/links/${secret}`, options);
}

/** A team of its own, made by the operator, with its owner and a token for everything. */
export async function newTeam(browser, name) {
  const operator = await asAda(browser);
  const desk = await operator.newPage();
  await desk.goto(`${service.origin}/account`);
  const made = await send(desk, "/instance/teams/new", { name });
  strictEqual(made.status, 200, made.text);
  const id = made.path.split("/").pop();
  const email = `owner-${id}@example.com`;
  // The operator may have signed in long ago.
  const invited = await send(desk, "/instance/people/invite", { team: id, email, password_again: PASSWORD });
  const [link] = invited.text.match(/http:[^<]*\/links\/[^<]*/) ?? [];
  ok(link, invited.text);
  await operator.close();
  const owner = await join(browser, link);
  await owner.page.goto(`${service.origin}/t/${id}/tokens/new?preset=owner`);
  const scopes = await owner.page.locator("input[name=scope]:checked").evaluateAll((all) => all.map((one) => ["scope", one.value]));
  const issued = await send(owner.page, `/t/${id}/tokens/new`, [["name", "Tests"], ...scopes]);
  const [token] = issued.text.match(/mgmt_\w+/) ?? [];
  ok(token, issued.text);
  return { id, email, token, owner, at: (place) => `${service.origin}/t/${id}/${place}` };
}
