// graphile-worker, in the settings of its own performance page (https://worker.graphile.org/docs/performance): batches
// are fetched into a local queue, and completions are batched, too.

import { Logger, makeWorkerUtils, run } from "graphile-worker";
import pg from "pg";
import { CONNECTIONS, QUEUE, databaseUrl, serve, version } from "./driver.mjs";

// It logs every job unless told otherwise.
process.env.NO_LOG_SUCCESS = "1";
const logger = new Logger(() => (level, message) => {
  if (level === "error") console.error(message);
});

const worker = {
  concurrentJobs: 24,
  maxPoolSize: 25,
  localQueue: { size: 500 },
  completeJobBatchDelay: 0,
  failJobBatchDelay: 0,
};

const pgPool = new pg.Pool({ connectionString: databaseUrl, max: CONNECTIONS });
pgPool.on("error", (error) => console.error(error));
const utils = await makeWorkerUtils({ pgPool, logger });
await utils.migrate();

let runner;
await serve(
  { version: version("graphile-worker"), settings: JSON.stringify(worker) },
  {
    // Of priorities, the lower goes first.
    send: (payload, urgent) => utils.addJob(QUEUE, payload, { priority: urgent ? -1 : 0 }),
    insert(payloads, delay) {
      const runAt = delay ? new Date(Date.now() + delay * 1000) : undefined;
      return utils.addJobs(payloads.map((payload) => ({ identifier: QUEUE, payload, runAt })));
    },
    async work(runs) {
      runner = await run({
        preset: { worker: { ...worker, connectionString: databaseUrl } },
        taskList: { [QUEUE]: (payload) => runs.started(payload) },
        noHandleSignals: true,
        logger,
      });
    },
    stop: () => runner.stop(),
  },
);
