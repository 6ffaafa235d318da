// The dashboards, in the order in which people open them.
import overview from "./overview.mjs";
import api from "./api.mjs";
import queuesAndWorkers from "./queues-and-workers.mjs";
import analysis from "./analysis.mjs";
import webhooks from "./webhooks.mjs";
import database from "./database.mjs";
import tenants from "./tenants.mjs";

export const dashboards = [overview, api, queuesAndWorkers, analysis, webhooks, database, tenants];

/** Its file in dashboards/, without a directory. */
export const file = (dashboard) => `${dashboard.uid.replace("gatehouse-", "")}.json`;
export const text = (dashboard) => `${JSON.stringify(dashboard, null, 2)}\n`;
