// A busy service, and a Prometheus that scrapes it. scripts/with-gatehouse has started the service.
import { execFileSync, spawn } from "node:child_process";
import { existsSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { Source } from "./prometheus.mjs";

export const demo = JSON.parse(readFileSync(process.env.GATEHOUSE_DEMO, "utf8"));
export const sleep = (milliseconds) => new Promise((done) => setTimeout(done, milliseconds));

const freePort = () => new Promise((done) => {
  const server = createServer().listen(0, "127.0.0.1", () => {
    const { port } = server.address();
    server.close(() => done(port));
  });
});

/** A Prometheus with the recording rules, if they are there. */
export class Prometheus extends Source {
  static async start() {
    const directory = mkdtempSync(join(tmpdir(), "gatehouse-dashboards-"));
    const rules = resolve("deploy/alerts/gatehouse.rules.yml");
    writeFileSync(join(directory, "prometheus.yml"), `global: {scrape_interval: 2s, evaluation_interval: 5s}
${existsSync(rules) ? `rule_files: ["${rules}"]` : ""}
scrape_configs:
- job_name: gatehouse
  static_configs: [{targets: ["${new URL(demo.metrics_url).host}"]}]
`);
    const address = `127.0.0.1:${await freePort()}`;
    const log = openSync(join(directory, "log"), "w");
    const child = spawn("prometheus", [
      `--config.file=${join(directory, "prometheus.yml")}`, `--storage.tsdb.path=${join(directory, "data")}`,
      `--web.listen-address=${address}`, "--log.level=warn",
    ], { stdio: ["ignore", log, log] });
    const prometheus = new Prometheus(address);
    Object.assign(prometheus, { child, directory, hasRules: existsSync(rules) });
    for (let tries = 0; ; tries++) {
      const ready = await fetch(`http://${address}/-/ready`).catch(() => null);
      if (ready?.ok) return prometheus;
      if (tries > 200 || child.exitCode !== null) throw new Error(`Prometheus does not start: ${readFileSync(join(directory, "log"))}`);
      await sleep(100);
    }
  }

  stop() {
    this.child.kill();
    rmSync(this.directory, { recursive: true, force: true });
  }
}

const psql = (...commands) => {
  const url = readFileSync(join(dirname(process.env.GATEHOUSE_DEMO), "postgres.url"), "utf8").trim();
  const options = commands.flatMap((command) => ["-c", command]);
  return execFileSync(process.env.PSQL, ["-XqAt", "-v", "ON_ERROR_STOP=1", ...options, url], { encoding: "utf8" });
};

/** The rows of a query of Postgres, read as the role that Grafana uses. */
export function rowsOf(sql) {
  return JSON.parse(psql("set role gatehouse_ops", `select coalesce(json_agg(row_to_json(q)), '[]') from (${sql}) q`));
}

/** What a healthy service does not have: webhooks that wait, because the queue is paused for a minute, and dead jobs of two teams. */
export function trouble() {
  psql(
    "insert into queue.queues (queue, paused_until) values ('webhooks', now() + interval '1 minute') on conflict (queue) do update set paused_until = excluded.paused_until",
    `insert into queue.dead_jobs (id, queue, lane, priority, attempt, max_attempts, created_at, cause, error, payload, grp)
     select -row_number() over (), e.queue, t.id, 0, 5, 5, now(), 'exhausted', e.error, '{}', t.id
     from teams t, generate_series(1, 9) n, (values ('analysis', 'the provider answered 503'), ('images', 'no answer in 10 s')) e (queue, error)
     where n < 6 or e.queue = 'analysis'`,
  );
}

const TEXTS = [
  "The train to the coast leaves at nine, bring your swimming things.",
  "Nobody should ever read this blockedword here.",
  "Please have a look at review-2024 when you find the time.",
  "I will kill you, you worthless piece of filth.",
  "Two tickets for the concert on Saturday, third row, fifty euros each.",
];
const IMAGE = readFileSync("tests/fixtures/images/baseline.jpg").toString("base64");

const post = (path, body) => fetch(`${demo.base_url}/${path}`, {
  method: "POST",
  headers: { "content-type": "application/json" },
  body: JSON.stringify(body),
});
const receiver = (settings) => fetch(process.env.RECEIVER, { method: "PUT", body: JSON.stringify(settings) });

/** Submits items for some time: in the middle third faster, while the receiver refuses a part of the webhooks. */
export async function load(seconds, perSecond) {
  const begun = Date.now();
  const passed = () => (Date.now() - begun) / (seconds * 1000);
  let number = 0;
  const under_way = new Set();
  const start = (work) => {
    const promise = work().catch(() => {}).finally(() => under_way.delete(promise));
    under_way.add(promise);
  };
  let phase = 0;
  while (passed() < 1) {
    const middle = passed() > 1 / 3 && passed() < 2 / 3;
    if (phase === 0 && middle) {
      phase = 1;
      await receiver({ refused: 0.25 });
    } else if (phase === 1 && !middle) {
      phase = 2;
      await receiver({ refused: 0 });
    }
    number += 1;
    const n = number;
    start(async () => {
      const answer = await post("submit-media", { api_key: demo.site_key, body: `${TEXTS[n % TEXTS.length]} (${n})` });
      const { id } = await answer.json();
      if (n % 3 === 0) await post("get-media-status", { api_key: demo.site_key, media_id: id });
    });
    if (n % 40 === 0) start(() => post("submit-media", { api_key: demo.site_key, content_base64: IMAGE }));
    if (n % 60 === 0) start(() => post("submit-media", { api_key: demo.site_key, content_url: "http://127.0.0.1:9/image.jpg" }));
    if (n % 25 === 0) start(() => post("submit-media", { api_key: demo.site_key }));
    if (n % 50 === 0) start(() => post("submit-media", { api_key: "site_00000000000000000000000000000000", body: "hello" }));
    const address = demo.base_url.replace("/functions/v1", "");
    if (n % 30 === 0) start(() => fetch(`${address}/management/v1/sites`, { headers: { authorization: `Bearer ${demo.management_token}` } }));
    if (n % 10 === 0) start(() => fetch(`${address}/healthz`));
    await sleep(1000 / (perSecond * (middle ? 2 : 1)));
  }
  await Promise.all(under_way);
}
