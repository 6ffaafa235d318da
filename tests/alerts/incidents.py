"""Five incidents, each as somebody on call meets it: the alert, and the panels that lead from it to the cause.

`prepare` runs before the normal load. `breaks` breaks on entry and repairs on exit. It may add marks: (label, time).
`looks` are what somebody then runs to confirm the cause.
"""

import base64
import contextlib
import re
import signal
import struct
import threading
import time
import zlib
from dataclasses import dataclass, field
from pathlib import Path

import injections
from injections import repeat
from standby import Standby

QUEUES, WEBHOOKS = "queues-and-workers", "webhooks"


@dataclass
class Incident:
    name: str
    title: str
    # The alerts that must arrive. The first is marked in the picture. Without any, no page may arrive.
    alerts: tuple
    panels: tuple
    prepare: object
    breaks: object
    looks: tuple
    rewrites: tuple = ()
    # Seconds from the fault to the repair, if it is not the alert that decides.
    lasts: float = 0
    facts: list = field(default_factory=list)


ALL = []


def incident(name, title, alerts, panels, looks, prepare=lambda stack, incident: None, **options):
    def keep(breaks):
        ALL.append(Incident(name, title, alerts, panels, prepare, contextlib.contextmanager(breaks), looks, **options))
        return breaks
    return keep


def sends(stack, key, every, content):
    """Submits for another team, too, until the returned function is called."""
    def send(ended):
        threading.Thread(target=stack.post, args=("submit-media", {"api_key": key, **content()}), daemon=True).start()
        ended.wait(every)
    return repeat(send)


@incident(
    "provider-down", "A provider answers every request with 500", ("ProviderPaused",),
    (("overview", "Submissions and verdicts"), ("analysis", "Paused"), ("analysis", "Failures"), ("analysis", "Requests to providers"),
     (QUEUES, "Scheduled, running and dead"), ("overview", "Time to a verdict")),
    (("psql", "select provider, failures, openings, date_trunc('second', open_until - now()) as open_for from provider_states"), ("gatehouse", "queue status"),
     ("gatehouse", "check")),
)
def provider_down(stack, _given, _marks):
    with contextlib.contextmanager(injections.a_provider_answers_500)(stack):
        yield


def with_a_slow_endpoint(stack, _incident):
    return stack.team("Slow Shop", ["slow"])[0]


@incident(
    "endpoint-flood", "One endpoint is slow and gets thousands of webhooks", (),
    ((QUEUES, "Lag"), (QUEUES, "Lag of what could run"), (QUEUES, "Runnable and due"), (WEBHOOKS, "Busy slots"),
     ("tenants", "Teams by due jobs"), (WEBHOOKS, "Time to a first delivery")),
    (("gatehouse", "queue status --lanes"), ("gatehouse", "queue status --groups"),
     ("psql", "select t.name, count(*) as deliveries, max(d.ended_at - d.created_at) as slowest from deliveries d join webhook_endpoints e on e.id = d.endpoint_id "
              "join sites s on s.id = e.site_id join teams t on t.id = s.team_id where d.state = 'delivered' and d.created_at > now() - interval '100 s' group by 1")),
    prepare=with_a_slow_endpoint, lasts=140,
)
def endpoint_flood(stack, key, _marks):
    stack.receiver.delays["/slow"] = 3
    end = sends(stack, key, 1 / 60, lambda: {"body": "Two tickets for the concert on Saturday, third row."})
    # The sender stops after a minute. What it sent stays.
    threading.Timer(60, end).start()
    yield
    stack.receiver.delays.clear()


def with_a_bystander(stack, incident):
    key = stack.team("Bystander", ["bystander"])[0]
    sends(stack, key, 0.5, lambda: {"body": "Does the train to the coast run on Sunday?"})
    incident.facts.append(("items of the other team, accepted since the fault",
                           "select count(*) from media m join teams t on t.id = m.team_id where t.name = 'Bystander' and m.created_at > '{fault}'"))


@incident(
    "stuck-transaction", "A session updates a row, and stays in its transaction", ("BudgetBurn", "OldTransaction"),
    (("overview", "Submissions and verdicts"), ("api", "Latency of submissions"), ("api", "Not stored"), ("database", "Errors by class"),
     ("database", "Connections"), ("database", "Oldest transaction")),
    (("psql", "select pid, usename, application_name, state, date_trunc('second', now() - xact_start) as open, left(query, 60) as query "
              "from pg_stat_activity where xact_start is not null and pid <> pg_backend_pid() order by xact_start limit 5"),
     ("psql", "select pid, pg_blocking_pids(pid) as waits_for, date_trunc('second', now() - query_start) as since, left(regexp_replace(query, '\\s+', ' ', 'g'), 60) as query "
              "from pg_stat_activity where cardinality(pg_blocking_pids(pid)) > 0 limit 5")),
    prepare=with_a_bystander, rewrites=next(found.rewrites for found in injections.ALL if found.alert == "OldTransaction"),
)
def stuck_transaction(stack, _given, _marks):
    # Somebody corrects what a team has used of its quota, and forgets to commit.
    with stack.postgres.session("begin; update usage set submissions = submissions - 10 where team_id = (select id from teams where name = 'Alerts');"):
        yield


def picture(width, height):
    """A PNG of one colour, which is small as a file and large in memory."""
    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
    pixels = zlib.compress((b"\0" + bytes([90, 140, 200]) * width) * height, 9)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)) + chunk(b"IDAT", pixels) + chunk(b"IEND", b"")


def with_large_pictures(stack, _incident):
    return stack.team("Large Pictures", ["pictures"])[0], base64.b64encode(picture(6900, 6900)).decode()


def memory(process, name):
    """Memory of a process in bytes: `VmRSS` is resident now, `VmHWM` is the most that was. 0 if it has ended."""
    with contextlib.suppress(OSError):
        if found := re.search(rf"{name}:\s+(\d+) kB", Path(f"/proc/{process.child.pid}/status").read_text()):
            return int(found[1]) * 1024
    return 0


@incident(
    "worker-oom", "A worker has too little memory for the pictures that arrive", ("RestartLoop", "JobsRescued"),
    (("overview", "Processes"), (QUEUES, "Memory"), (QUEUES, "Rescued and fenced"), (QUEUES, "Retries"), (QUEUES, "Slots"),
     ("overview", "Submissions and verdicts")),
    (("gatehouse", "queue status"), ("psql", "select queue, state, attempt, count(*) from queue.jobs group by 1, 2, 3 order by 1, 2, 3 limit 10")),
    prepare=with_large_pictures,
)
def worker_oom(stack, given, marks):
    """Ends the worker as the kernel does: SIGKILL, as soon as its memory has been over a limit. A supervisor starts it again."""
    key, text = given
    worker, ends = stack.workers[1], []
    limit = memory(worker, "VmRSS") + (64 << 20)

    def supervise(ended):
        worker.start()
        while worker.child.poll() is None and not ended.is_set():
            time.sleep(0.02)
            if memory(worker, "VmHWM") > limit:
                ends.append(memory(worker, "VmHWM") >> 20)
                worker.stop(signal.SIGKILL)
        ended.wait(1)

    worker.stop()
    end_supervisor = repeat(supervise)
    end_pictures = sends(stack, key, 3, lambda: {"content_base64": text})
    yield
    end_supervisor()
    worker.stop()
    worker.start()
    # The pictures go on for a while, and do no harm any more.
    threading.Timer(20, end_pictures).start()
    marks.append((None, f"worker-2 may use {limit >> 20} MiB; it was killed {len(ends)} times, at {min(ends, default=0)} to {max(ends, default=0)} MiB"))


def with_a_standby(stack, _incident):
    return Standby(stack.postgres, stack.directory / "postgres")


@incident(
    "database-failover", "The primary of the database dies, and its standby takes over", ("BudgetBurn",),
    (("overview", "Answers that failed"), ("api", "Not stored"), ("database", "Errors by class"), ("database", "Connections"),
     (QUEUES, "Age of the queues' depth"), ("overview", "Submissions and verdicts")),
    (("psql", "select pg_is_in_recovery(), current_setting('transaction_read_only') as read_only, date_trunc('second', now() - pg_postmaster_start_time()) as up_for"),
     ("psql", "select timeline_id from pg_control_checkpoint()"), ("gatehouse", "queue status")),
    prepare=with_a_standby, lasts=70,
)
def database_failover(stack, standby, marks):
    stack.postgres.stop("immediate")
    time.sleep(10)
    standby.take_over()
    stack.postgres = standby
    marks.append(("repaired", time.time()))
    yield
