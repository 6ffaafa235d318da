// Scale what?
import { dashboard } from "./frame.mjs";
import { graph, row, stat } from "./panels.mjs";
import { lately, perSecond, quantile } from "./queries.mjs";

const Q = 'queue=~"$queue"';
const BOUND = `gatehouse_queue_bound_seconds_total{${Q}}`;
const BOUND_BY_SHARE = `gatehouse_queue_bound_seconds_total{${Q}, by="team_share"}`;

export default dashboard({
  name: "queues-and-workers",
  title: "queues and workers",
  about: "What to scale. The panel What holds jobs back names what binds now: slots, a team's share of them, a cap, the provider, an endpoint's pace, or Postgres. The runbook says which setting to change, and what it costs.",
  queues: true,
  panels: [
    row("At a glance"),
    stat({
      title: "Longest lag",
      says: "How long the oldest due job of the chosen queues has waited.",
      query: `max(time() - max by (queue) (gatehouse_queue_oldest_due_timestamp_seconds{${Q}}))`,
      unit: "s", decimals: 0, limits: { orange: 60, red: 300 }, runbook: "QueueLag",
    }),
    stat({
      title: "Runnable",
      says: "Due jobs that could run now: not paused, and their lane and group have room. Workers help only these.",
      query: `sum(max by (queue) (gatehouse_queue_runnable{${Q}}))`,
      unit: "short", decimals: 0, runbook: "QueueLag",
    }),
    stat({
      title: "Busiest queue",
      says: "Busy slots as a share of all slots over five minutes, of the queue where it is highest. One busy team can have half of them, so 50 % can be full: look at What holds jobs back.",
      query: `max(sum by (queue) (avg_over_time(gatehouse_worker_slots_busy{${Q}}[5m])) / sum by (queue) (gatehouse_worker_slots{${Q}}))`,
      unit: "percentunit", decimals: 0, limits: { orange: 0.8, red: 0.95 }, runbook: "QueueLag",
    }),
    stat({
      title: "Dead jobs",
      says: "Jobs that used up their attempts. gatehouse queue dead --summary says why.",
      query: `sum(max by (queue) (gatehouse_queue_jobs{${Q}, state="dead"}))`,
      unit: "short", decimals: 0, limits: { orange: 1 }, runbook: "JobsDied", opens: "tenants",
    }),
    stat({
      title: "Oldest heartbeat",
      says: "How long ago a worker last told Postgres that it lives. After its lease (30 s), others take its jobs over.",
      query: "max(time() - gatehouse_worker_heartbeat_timestamp_seconds)",
      unit: "s", decimals: 0, limits: { orange: 30, red: 60 }, runbook: "HeartbeatOld",
    }),
    stat({
      title: "Age of these numbers",
      says: "How long ago the depth of the queues was read. Over 60 s they are out of date: nobody can read Postgres.",
      query: "time() - max(gatehouse_queue_stats_timestamp_seconds)",
      unit: "s", decimals: 0, limits: { orange: 30, red: 60 }, runbook: "StatsStale",
    }),

    row("Does work pile up?"),
    graph({
      title: "Lag",
      says: "How long the oldest due job has waited. It also grows while nobody can read Postgres.",
      series: [["{{queue}}", `time() - max by (queue) (gatehouse_queue_oldest_due_timestamp_seconds{${Q}})`]],
      unit: "s", limits: { orange: 60, red: 300 }, runbook: "QueueLag",
    }),
    graph({
      title: "Lag of what could run",
      says: "How long the oldest job has waited that a free worker could run. Far below Lag: the old jobs are capped or paused, and more workers do not help them.",
      series: [["{{queue}}", `time() - max by (queue) (gatehouse_queue_oldest_runnable_timestamp_seconds{${Q}})`]],
      unit: "s", limits: { orange: 60, red: 300 }, runbook: "QueueLag",
    }),
    graph({
      title: "Lag when last read",
      says: "The same, at the last reading (every 15 s). If it is far below Lag, the numbers are out of date.",
      series: [["{{queue}}", `max by (queue) (gatehouse_queue_oldest_due_seconds{${Q}})`]],
      unit: "s", runbook: "StatsStale",
    }),
    graph({
      title: "Runnable and due",
      says: "Due jobs, and those of them that could run now. A large difference: lanes or groups are capped or paused.",
      series: [
        ["{{queue}} runnable", `max by (queue) (gatehouse_queue_runnable{${Q}})`],
        ["{{queue}} due", `max by (queue) (gatehouse_queue_jobs{${Q}, state="due"})`],
      ],
      unit: "short", runbook: "QueueLag", opens: "tenants",
    }),
    graph({
      title: "What holds jobs back",
      says: "Share of the time, over all processes, in which jobs waited for this: slots, a team's share of them (half for one team), a cap, the provider, an endpoint's pace, or Postgres. Lag without a curve: processors, or no worker.",
      series: [["{{queue}} {{by}}", `(${perSecond(BOUND, "queue, by")} > 0 or ${perSecond(BOUND_BY_SHARE, "queue, by")}) / on (queue) group_left () count by (queue) (gatehouse_worker_slots{${Q}})`]],
      unit: "percentunit", max: 1, runbook: "QueueLag",
    }),
    graph({
      title: "Busy slots",
      says: "Busy slots as a share of all slots. One busy team has at most 50 %, two have 67 %. A queue without workers has no curve.",
      series: [["{{queue}}", `sum by (queue) (gatehouse_worker_slots_busy{${Q}}) / sum by (queue) (gatehouse_worker_slots{${Q}})`]],
      unit: "percentunit", max: 1, limits: { orange: 0.8, red: 0.95 }, runbook: "NoWorker",
    }),
    graph({
      title: "Slots",
      says: "Jobs that all workers together can run at once.",
      series: [["{{queue}}", `sum by (queue) (gatehouse_worker_slots{${Q}})`]],
      unit: "short", runbook: "NoWorker",
    }),
    graph({
      title: "Scheduled, running and dead",
      says: "Jobs that wait for a later time (mostly retries), that run, and that died.",
      series: [["{{queue}} {{state}}", `max by (queue, state) (gatehouse_queue_jobs{${Q}, state!="due"}) > 0 or max by (queue, state) (gatehouse_queue_jobs{${Q}, state="dead"})`]],
      unit: "short", runbook: "JobsDied",
    }),

    row("Throughput"),
    graph({
      title: "Enqueued",
      says: "New jobs a second.",
      series: [["{{queue}}", perSecond(`gatehouse_jobs_enqueued_total{${Q}}`, "queue")]],
      unit: "ops",
    }),
    graph({
      title: "Finished",
      says: "Runs that ended, by outcome. again: a planned further run. released: given back at a stop, without charging an attempt.",
      series: [["{{outcome}}", perSecond(`gatehouse_jobs_finished_total{${Q}}`, "outcome")]],
      unit: "ops", stack: true, coloured: true, runbook: "QueueStalled",
    }),
    graph({
      title: "Shortcuts and checkpoints",
      says: "handed over: jobs that the enqueuing process took itself, without a claim. checkpoints: effects that running jobs recorded.",
      series: [
        ["{{queue}} handed over", perSecond(`gatehouse_jobs_handed_over_total{${Q}}`, "queue")],
        ["checkpoints", perSecond(`gatehouse_job_checkpoints_total{${Q}}`)],
      ],
      unit: "ops",
    }),
    graph({
      title: "Wait, p95",
      says: "Time from when a job is due to its start.",
      series: [["{{queue}}", quantile(0.95, "gatehouse_job_wait_seconds", { by: "queue", labels: Q })]],
      unit: "s", runbook: "QueueLag",
    }),
    graph({
      title: "Run time, p95",
      says: "Time of one run. If it grows, what the jobs wait for is slow: providers, receivers or Postgres.",
      series: [["{{queue}}", quantile(0.95, "gatehouse_job_duration_seconds", { by: "queue", labels: Q })]],
      unit: "s",
    }),
    graph({
      title: "Claim, p99",
      says: "Time in which a worker gets jobs from Postgres. It depends on Postgres alone.",
      series: [["{{queue}}", quantile(0.99, "gatehouse_queue_claim_seconds", { by: "queue", labels: Q })]],
      unit: "s", opens: "database",
    }),

    row("What goes wrong"),
    graph({
      title: "Finish backlog",
      says: "How long the oldest ended job of a worker has waited to be recorded. It grows while Postgres takes no writes.",
      series: [["{{instance}} {{queue}}", `max by (instance, queue) (gatehouse_finish_backlog_seconds{${Q}})`]],
      unit: "s", limits: { red: 30 }, runbook: "FinishBlocked",
    }),
    graph({
      title: "Retries",
      says: "Failed attempts that are tried again, over 15 minutes. outage and worker_lost are ours, error is often the provider's or receiver's.",
      series: [["{{queue}} {{reason}}", `${lately(`gatehouse_job_retries_total{${Q}}`, "queue, reason")} > 0 or ${lately(`gatehouse_job_retries_total{${Q}, reason="error"}`, "queue, reason")}`]],
      unit: "short", bars: true,
    }),
    graph({
      title: "Jobs that died",
      says: "Over 15 minutes, by reason. Every one is worth a look: an item was sent on unchecked, or a webhook was given up.",
      series: [["{{queue}} {{reason}}", `${lately(`gatehouse_jobs_dead_total{${Q}}`, "queue, reason")} > 0 or ${lately(`gatehouse_jobs_dead_total{${Q}, reason="exhausted"}`, "queue, reason")}`]],
      unit: "short", bars: true, runbook: "JobsDied",
    }),
    graph({
      title: "Rescued and fenced",
      says: "Over 15 minutes. rescued: jobs of workers that died or stalled. fenced: results that came after the rescue and were refused.",
      series: [["rescued", lately("gatehouse_jobs_rescued_total")], ["fenced", lately("gatehouse_jobs_fenced_total")]],
      unit: "short", bars: true, runbook: "JobsRescued",
    }),
    graph({
      title: "Heartbeats",
      says: "How long ago each worker last told Postgres that it lives.",
      series: [["{{instance}}", "max by (instance) (time() - gatehouse_worker_heartbeat_timestamp_seconds)"]],
      unit: "s", limits: { red: 60 }, runbook: "HeartbeatOld",
    }),
    graph({
      title: "Age of the queues' depth",
      says: "How long ago the depth was read, by any process. Two processes read it, so one may die.",
      series: [["age", "time() - max(gatehouse_queue_stats_timestamp_seconds)"]],
      unit: "s", limits: { red: 60 }, runbook: "StatsStale",
    }),

    row("Processes"),
    graph({
      title: "CPU",
      says: "Processors that each process uses.",
      series: [["{{instance}}", "sum by (instance) (rate(process_cpu_seconds_total[$__rate_interval]))"]],
      unit: "short", decimals: 2,
    }),
    graph({
      title: "Memory",
      says: "Resident memory of each process.",
      series: [["{{instance}}", "sum by (instance) (process_resident_memory_bytes)"]],
      unit: "bytes", runbook: "RestartLoop",
    }),
    graph({
      title: "File descriptors",
      says: "Open ones as a share of the limit. At 100 % connections fail.",
      series: [["{{instance}}", "max by (instance) (process_open_fds / process_max_fds)"]],
      unit: "percentunit", limits: { orange: 0.8 },
    }),
    graph({
      title: "Threads of the runtime",
      says: "Share of time in which the runtime's threads were busy. Near 100 % the process needs more processors.",
      series: [["{{instance}} busy", "max by (instance) (gatehouse_runtime_busy_ratio)"]],
      unit: "percentunit", max: 1, limits: { orange: 0.8, red: 0.95 },
    }),
    graph({
      title: "Tasks",
      says: "Live tasks of the runtime, and those that wait for a thread.",
      series: [
        ["{{instance}} live", "sum by (instance) (gatehouse_runtime_tasks)"],
        ["{{instance}} waiting", "sum by (instance) (gatehouse_runtime_queue_depth)"],
      ],
      unit: "short",
    }),
    graph({
      title: "Threads",
      says: "Threads of each process, and those of them that run tasks.",
      series: [
        ["{{instance}}", "sum by (instance) (process_threads)"],
        ["{{instance}} for tasks", "sum by (instance) (gatehouse_runtime_workers)"],
      ],
      unit: "short",
    }),
    graph({
      title: "Spans dropped",
      says: "Spans of traces that nobody will see: the collector did not take them, or they came faster than they could be sent. Empty without a collector.",
      series: [["{{reason}}", "sum by (reason) (rate(gatehouse_spans_dropped_total[$__rate_interval]))"]],
      unit: "ops",
    }),
  ],
});
