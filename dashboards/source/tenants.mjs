// Who causes it? Labels of metrics never name tenants, so these panels read views of the schema ops in Postgres.
import { dashboard } from "./frame.mjs";
import { figure, row, rows } from "./panels.mjs";

export default dashboard({
  name: "tenants",
  title: "tenants",
  about: "Who causes it? The teams with the most work, and what fails at them. The views of the schema ops show no content, keys, addresses or URLs.",
  onPostgres: true,
  panels: [
    row("At a glance"),
    figure({
      title: "Due jobs",
      says: "Due jobs of all teams.",
      sql: "select coalesce(sum(due), 0) as due from ops.due_jobs",
      unit: "short", runbook: "QueueLag", opens: "queues-and-workers",
    }),
    figure({
      title: "Endpoints that get nothing",
      says: "Endpoints that are disabled, or paused because they keep failing.",
      sql: "select count(*) as endpoints from ops.endpoint_troubles where state in ('disabled', 'open')",
      unit: "short", limits: { orange: 1 }, runbook: "EndpointDisabled", opens: "webhooks",
    }),
    figure({
      title: "Dead jobs",
      says: "Of the ten thousand jobs that died last.",
      sql: "select coalesce(sum(dead), 0) as dead from ops.dead_jobs",
      unit: "short", limits: { orange: 1 }, runbook: "JobsDied", opens: "queues-and-workers",
    }),
    figure({
      title: "Oldest review",
      says: "How long the oldest item has waited for a person.",
      sql: "select coalesce(extract(epoch from now() - min(oldest)), 0) as seconds from ops.reviews",
      unit: "s", limits: { orange: 86400, red: 259200 }, runbook: "ReviewAge", opens: "analysis",
    }),

    row("Who sends much?"),
    rows({
      title: "Teams by due jobs",
      says: "Teams whose jobs wait. A team delays no other, but it can be capped: gatehouse queue cap --group <team_id>.",
      sql: `select team, queue, due, running, extract(epoch from now() - oldest_due) as "waits for", team_id
from ops.due_jobs order by due desc, running desc limit 20`,
      columns: { "waits for": { unit: "s", limits: { orange: 60, red: 300 } }, due: { unit: "short" }, running: { unit: "short" } },
      runbook: "QueueLag",
    }),
    rows({
      title: "Teams by submissions",
      says: "Accepted submissions of the last 24 hours, from the statistics, which are up to two minutes old.",
      sql: `select team, this_hour as "this hour", last_day as "last 24 h", team_id
from ops.submissions order by last_day desc limit 20`,
      columns: { "this hour": { unit: "short" }, "last 24 h": { unit: "short" } },
    }),
    rows({
      title: "Quotas",
      says: "How much of its plan's submissions and webhooks each team has used in its billing period. At 100 % the team gets 403 quota_exceeded.",
      sql: `select team, plan, submissions, quota, used, delivery_used as "webhooks used", period_end as "until", team_id
from ops.quotas order by greatest(used, delivery_used) desc nulls last, submissions desc limit 20`,
      columns: {
        used: { unit: "percentunit", limits: { orange: 0.8, red: 1 } },
        "webhooks used": { unit: "percentunit", limits: { orange: 0.8, red: 1 } },
        until: { unit: "dateTimeFromNow" },
      },
    }),
    rows({
      title: "Oldest reviews",
      says: "Teams whose items wait for a person.",
      sql: `select team, waiting, extract(epoch from now() - oldest) as "oldest", team_id
from ops.reviews order by "oldest" desc limit 20`,
      columns: { oldest: { unit: "s", limits: { orange: 86400, red: 259200 } } },
      runbook: "ReviewAge",
    }),

    row("Where does it fail?"),
    rows({
      title: "Endpoints in trouble",
      says: "Webhook endpoints that are disabled, paused (open) or failing, those in trouble longest first, at most five of each team. Its owner sees the attempts in the console.",
      sql: `select team, state, extract(epoch from now() - e.since) as "since", failures, reason, endpoint_id
from (select *, row_number() over (partition by team_id order by since) as place from ops.endpoint_troubles) e
where place <= 5 order by "since" desc limit 50`,
      columns: { since: { unit: "s" } },
      runbook: "EndpointDisabled", opens: "webhooks",
    }),
    rows({
      title: "Dead jobs by error",
      says: "The last ten thousand dead jobs. Values in errors are replaced by …; gatehouse queue dead --summary shows them complete.",
      sql: `select queue, cause, error, dead, teams, last_died as "last"
from ops.dead_jobs order by dead desc limit 20`,
      columns: { last: { unit: "dateTimeFromNow" } },
      runbook: "JobsDied",
    }),
  ],
});
