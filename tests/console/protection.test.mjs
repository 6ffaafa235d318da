// What protects people from other sites, other people, and those who guess.
import { deepStrictEqual, notStrictEqual, ok, strictEqual } from "node:assert";
import { request } from "node:http";
import { connect } from "node:net";
import { after, before, test } from "node:test";
import { launch, shown, watched } from "./browser.mjs";
import { ADA, PASSWORD, ada, asAda, newcomer, recoveryCode, signIn, totp } from "./people.mjs";
import { manage, service } from "./service.mjs";

const { hostname, port } = new URL(service.origin);
const COOKIE = "__Host-gatehouse";

let browser;
before(async () => {
  browser = await launch();
  await ada(browser);
});
after(() => browser?.close());

/** One request of a program, from this machine or from another address of it. */
function ask(method, path, { headers = {}, body, from = "127.0.0.1" } = {}) {
  return new Promise((resolve, reject) => {
    const sent = request({ hostname, port, method, path, headers, localAddress: from }, (answer) => {
      const parts = [];
      answer.on("data", (part) => parts.push(part));
      answer.on("end", () => resolve({ status: answer.statusCode, headers: answer.headers, text: Buffer.concat(parts).toString() }));
    });
    sent.on("error", reject);
    sent.end(body);
  });
}

/** What is sent letter by letter, which need not be HTTP. */
function say(text) {
  return new Promise((resolve, reject) => {
    const socket = connect(Number(port), hostname, () => socket.write(text));
    let answer = "";
    socket.on("data", (part) => (answer += part)).on("error", reject).on("close", () => {
      const [head] = answer.split("\r\n\r\n");
      const [line, ...lines] = head.split("\r\n");
      const headers = Object.fromEntries(lines.map((one) => one.split(/: ?/)).map(([name, ...value]) => [name.toLowerCase(), value.join(": ")]));
      resolve({ status: Number(line.split(" ")[1]), headers });
    });
    setTimeout(() => socket.end(), 2_000).unref();
  });
}

const FORM = { "content-type": "application/x-www-form-urlencoded", "sec-fetch-site": "same-origin" };
const EXPECTED = {
  "content-security-policy": "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; form-action 'self'; "
    + "frame-ancestors 'none'; base-uri 'none'; require-trusted-types-for 'script'; trusted-types 'none'",
  "x-content-type-options": "nosniff",
  "referrer-policy": "no-referrer",
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-resource-policy": "same-origin",
};

test("every answer tells the browser to run nothing foreign, whatever was wrong with the request", async () => {
  const page = await ask("GET", "/sign-in");
  const asset = page.text.match(/\/assets\/[^"]+/)[0];
  const answers = {
    200: page,
    "200 asset": await ask("GET", asset),
    "200 HEAD": await ask("HEAD", "/sign-in"),
    303: await ask("GET", "/"),
    400: await say("GET / HTTP/1.1\r\nHost: a b\r\nbad header\r\n\r\n"),
    403: await ask("POST", "/sign-in", { headers: { "content-type": FORM["content-type"] }, body: "" }),
    404: await ask("GET", "/nothing"),
    "404 asset": await ask("GET", "/assets/none.js"),
    405: await ask("DELETE", "/sign-in", { headers: FORM }),
    413: await ask("POST", "/sign-in", { headers: FORM, body: "x".repeat(2 << 20) }).catch(() => null),
    415: await ask("POST", "/sign-in", { headers: { ...FORM, "content-type": "text/plain" }, body: "x" }),
    422: await ask("POST", "/sign-in", { headers: FORM, body: "email=x&password=y" }),
    "431 address": await ask("GET", `/${"x".repeat(100_000)}`),
    "431 header": await ask("GET", "/sign-in", { headers: { "x-large": "x".repeat(100_000) } }),
  };
  const wrong = [];
  for (const [what, answer] of Object.entries(answers)) {
    if (!answer) {
      wrong.push(`${what}: no answer`);
      continue;
    }
    const { status, headers } = answer;
    if (String(status) !== what.split(" ")[0]) wrong.push(`${what}: answered ${status}`);
    for (const [name, value] of Object.entries(EXPECTED)) {
      if (headers[name] !== value) wrong.push(`${what}: ${name}: ${headers[name]}`);
    }
    const cached = what === "200 asset" ? /immutable/ : /^no-store$/;
    if (!cached.test(headers["cache-control"])) wrong.push(`${what}: cache-control: ${headers["cache-control"]}`);
    if (!headers["permissions-policy"]) wrong.push(`${what}: no permissions-policy`);
  }
  deepStrictEqual(wrong, []);
});

test("forms of another site change nothing, and sign nobody in", async () => {
  const context = await asAda(browser);
  const page = await context.newPage();
  const attacks = [
    ["/sign-out", {}],
    ["/sign-in", { email: ADA.email, password: PASSWORD }],
    ["/account/password", { current: PASSWORD, new: "another long password" }],
    [`/t/${service.demo.team_id}/sites/new`, { name: "Planted" }],
  ];
  for (const [path, fields] of attacks) {
    const inputs = Object.entries(fields).map(([name, value]) => `<input name="${name}" value="${value}">`).join("");
    await page.route("https://evil.example/", (route) => route.fulfill({
      contentType: "text/html",
      body: `<form method="post" action="${service.origin}${path}">${inputs}<button>Win</button></form>`,
    }));
    await page.goto("https://evil.example/");
    const [answer] = await Promise.all([
      page.waitForResponse((response) => response.url().startsWith(service.origin)),
      page.getByRole("button").click(),
    ]);
    strictEqual(answer.status(), 403, path);
    strictEqual(answer.headers()["set-cookie"], undefined, path);
    await page.unroute("https://evil.example/");
  }
  await page.goto(`${service.origin}/account`);
  ok((await shown(page)).includes(ADA.name), "still signed in");
  const { data: sites } = await manage("GET", "/sites");
  ok(!sites.some(({ name }) => name === "Planted"));
  await context.close();
});

test("a cookie that somebody planted before the sign-in is never a session", async () => {
  const context = await browser.newContext();
  const { page } = await watched(context);
  const planted = "session_00000000000000000000000000000000";
  const held = async () => (await context.cookies()).find(({ name }) => name === COOKIE)?.value;
  await context.addCookies([{ name: COOKIE, value: planted, url: service.origin.replace("http:", "https:"), secure: true }]);
  await page.goto(service.origin);
  ok(page.url().endsWith("/sign-in"), page.url());
  await signIn(page, ADA.email);
  const halfway = await held();
  notStrictEqual(halfway, planted);
  await page.locator("input[name=code]").fill(recoveryCode());
  await page.getByRole("button", { name: "Continue" }).click();
  ok((await shown(page)).includes(ADA.name), await shown(page));
  const session = await held();
  ok(session && session !== planted && session !== halfway, "each step has a session of its own");
  for (const value of [planted, halfway]) {
    const { status, headers } = await ask("GET", "/account", { headers: { cookie: `${COOKIE}=${value}` } });
    deepStrictEqual([status, headers.location], [303, "/sign-in"], value);
  }
  // Neither does the interface for programs accept the console's session.
  const answer = await fetch(`${service.demo.base_url.replace("/functions/v1", "/management/v1")}/me`, { headers: { cookie: `${COOKIE}=${session}` } });
  strictEqual(answer.status, 401);
  await context.close();
});

test("after signing out, Back shows nothing", async () => {
  const { context, page } = await newcomer(browser, "back@example.com", "viewer", { name: "Barbara" });
  await page.goto(`${service.origin}/account`);
  ok((await shown(page)).includes("Barbara"));
  await page.getByRole("button", { name: "Sign out" }).click();
  await page.goBack();
  await page.waitForLoadState();
  ok(!(await shown(page)).includes("Barbara"), await shown(page));
  await context.close();
});

test("the next click of somebody who was disabled is refused, and stores nothing", async () => {
  const { context, page } = await newcomer(browser, "gone@example.com", "admin");
  await page.goto(`${service.origin}/t/${service.demo.team_id}/sites/new`);
  await page.getByRole("textbox", { name: /^Name/ }).fill("Too late");
  const { data: people } = await manage("GET", "/people?limit=100");
  await manage("DELETE", `/people/${people.find(({ email }) => email === "gone@example.com").id}`);
  await page.getByRole("button", { name: "Create the site" }).click();
  ok(page.url().endsWith("/sign-in"), page.url());
  const { data: sites } = await manage("GET", "/sites");
  ok(!sites.some(({ name }) => name === "Too late"));
  await context.close();
});

test("who guesses a password is slowed down, while its owner signs in from elsewhere", async () => {
  const { context } = await newcomer(browser, "victim@example.com", "viewer");
  await context.close();
  const enter = (password, from) => ask("POST", "/sign-in", { headers: FORM, from, body: new URLSearchParams({ email: "victim@example.com", password }).toString() });
  const guesses = [];
  for (let guess = 0; guess < 8; guess += 1) guesses.push((await enter(`wrong horse battery ${guess}`)).status);
  deepStrictEqual(guesses.slice(0, 5), [422, 422, 422, 422, 422]);
  ok(guesses.slice(5).includes(429), guesses.join());
  strictEqual((await enter(PASSWORD)).status, 429, "the right password does not help at this address");
  const { status, headers } = await enter(PASSWORD, "127.0.0.2");
  deepStrictEqual([status, headers.location], [303, "/"]);
});

test("a code of the app is accepted once", async () => {
  const { context, page, secret } = await newcomer(browser, "codes@example.com", "admin");
  const code = totp(secret, 1);
  await page.getByRole("button", { name: "Sign out" }).click();
  await signIn(page, "codes@example.com", code);
  await page.waitForLoadState();
  ok(!page.url().includes("/sign-in"), await shown(page));
  await page.getByRole("button", { name: "Sign out" }).click();
  await signIn(page, "codes@example.com", code);
  const refused = await page.getByRole("alert").innerText();
  ok(page.url().endsWith("/sign-in/code"), refused);
  await context.close();
});
