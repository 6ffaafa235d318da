// What the drivers share: the line protocol of `gatehouse-bench`, and the counting of runs. A request is a line of
// JSON on standard input whose member `do` names a method of the driver; its answer is a line on standard output,
// `{"ok": ...}` or `{"error": "..."}`. `add` alone is not answered: `settle` waits for all of them.

import { createInterface } from "node:readline";
import { readFileSync } from "node:fs";

export const QUEUE = "nothing";
/** Jobs to a call of a bulk insert. */
export const CHUNK = 5000;
/** Connections for everything but the workers of a peer, as many as the other drivers have. */
export const CONNECTIONS = 8;

export const databaseUrl = process.argv[2];

/** Microseconds of the machine's monotonic clock, which all processes share. */
export const now = () => Number(process.hrtime.bigint() / 1000n);

export const version = (name) =>
  JSON.parse(readFileSync(new URL(`node_modules/${name}/package.json`, import.meta.url))).version;

/** Counts the jobs that have started, and notes how long those waited that say when they were due. */
export class Runs {
  count = 0;
  latencies = [];
  #target = Infinity;
  #reached = () => {};

  started({ due }) {
    if (due) this.latencies.push(now() - due);
    this.count += 1;
    if (this.count >= this.#target) this.#reached();
  }

  reach(target) {
    if (this.count >= target) return;
    return new Promise((resolve) => {
      this.#target = target;
      this.#reached = resolve;
    });
  }
}

/** Calls `act` with 0 to `count - 1`, from so many tasks at once, each of which waits for its last call. */
export async function shareOut(count, tasks, act) {
  let next = 0;
  const task = async () => {
    while (next < count) await act(next++);
  };
  await Promise.all(Array.from({ length: tasks }, task));
}

/** Calls `insert` with lists of up to `CHUNK` payloads, `count` in all. */
export async function inChunks(count, insert) {
  for (let first = 0; first < count; first += CHUNK) {
    const length = Math.min(CHUNK, count - first);
    await insert(Array.from({ length }, (_, n) => ({ n: first + n, due: 0 })));
  }
}

/** Answers requests until standard input ends. `about` is the first answer. */
export async function serve(about, driver) {
  const runs = new Runs();
  let adding = [];
  const methods = {
    ran: () => runs.count,
    await: async ({ ran }) => {
      await runs.reach(ran);
      return runs.count;
    },
    latencies: () => runs.latencies.splice(0),
    settle: async () => {
      const all = adding;
      adding = [];
      await Promise.all(all);
      return all.length;
    },
    enqueue: ({ jobs, tasks }) => shareOut(jobs, tasks, (n) => driver.send({ n, due: 0 }, false)),
    bulk: ({ jobs, delay_s }) => inChunks(jobs, (payloads) => driver.insert(payloads, delay_s)),
    work: () => driver.work(runs),
    stop: () => driver.stop(),
  };
  const print = (answer) => process.stdout.write(`${JSON.stringify(answer)}\n`);
  print({ ok: about });
  for await (const line of createInterface({ input: process.stdin })) {
    const request = JSON.parse(line);
    if (request.do === "add") {
      adding.push(driver.send({ n: 0, due: request.due }, request.urgent));
      continue;
    }
    try {
      print({ ok: (await methods[request.do](request)) ?? null });
    } catch (error) {
      print({ error: String(error?.stack ?? error) });
    }
  }
  process.exit(0);
}
