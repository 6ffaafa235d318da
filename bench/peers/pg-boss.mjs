// pg-boss, with what its documentation offers for speed: workers that take batches and go on at once while these come
// full, and LISTEN/NOTIFY instead of mere polling.

import { PgBoss } from "pg-boss";
import { CONNECTIONS, QUEUE, databaseUrl, serve, version } from "./driver.mjs";

const constructor = { useListenNotify: true, max: CONNECTIONS };
const queue = { notify: true };
const work = { batchSize: 500, localConcurrency: 4, burstWhenBatchFull: true };

const boss = new PgBoss({ connectionString: databaseUrl, ...constructor });
boss.on("error", (error) => console.error(error));
await boss.start();
if (!(await boss.getQueue(QUEUE))) await boss.createQueue(QUEUE, queue);

await serve(
  { version: version("pg-boss"), settings: JSON.stringify({ ...constructor, ...queue, ...work }) },
  {
    // Of priorities, the higher goes first.
    send: (payload, urgent) => boss.send(QUEUE, payload, urgent ? { priority: 1 } : {}),
    insert: (payloads, delay) =>
      boss.insert(QUEUE, payloads.map((data) => (delay ? { data, startAfter: delay } : { data }))),
    work: (runs) =>
      boss.work(QUEUE, work, async (jobs) => {
        for (const { data } of jobs) runs.started(data);
      }),
    stop: () => boss.offWork(QUEUE),
  },
);
