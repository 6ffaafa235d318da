"""What breaks, and which alert must say so. Each injection is a context: it breaks on entry and repairs on exit.

`within`: seconds until the alert must have arrived, with windows shortened tenfold. `companions`: other alerts that the
same fault rightly causes.
"""

import contextlib
import signal
import subprocess
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path

from servers import free_port, other_version
from stack import Process

OUTAGE = {"BudgetBurn", "SubmitSlow", "DatabaseErrors", "StatsStale", "HeartbeatOld", "FinishBlocked", "QueueLag", "QueueStalled",
          "JobsRescued", "JobsFenced"}


@dataclass
class Injection:
    alert: str
    breaks: object
    lane: str
    within: float
    severity: str = ""
    companions: set = field(default_factory=set)
    resolves: float = 120
    rewrites: tuple = ()
    # Seconds of normal load before it.
    after: float = 0
    note: str = ""


ALL = []


def injection(alert, lane, within, **options):
    def keep(breaks):
        ALL.append(Injection(alert, contextlib.contextmanager(breaks), lane, within, **options))
        return breaks
    return keep


def repeat(work):
    """Runs `work` in a loop until the returned function is called."""
    ended = threading.Event()

    def loop():
        while not ended.is_set():
            with contextlib.suppress(subprocess.CalledProcessError):
                work(ended)

    thread = threading.Thread(target=loop, daemon=True)
    thread.start()

    def end():
        ended.set()
        thread.join()
    return end


# The lane "requests": what clients see.


@injection("SubmitSlow", "requests", 60, severity="page", resolves=330, after=30)
def a_lock_that_comes_and_goes(stack):
    def hold(ended):
        with stack.postgres.session("begin; lock table media in exclusive mode;"):
            ended.wait(2.5)
        ended.wait(0.3)
    end = repeat(hold)
    yield
    end()


@injection("BudgetBurn", "requests", 60, severity="page", resolves=420, companions=OUTAGE)
def postgres_is_killed_under_load(stack):
    stack.postgres.stop("immediate")
    yield
    stack.postgres.start()


@injection("DatabaseErrors", "requests", 60, severity="page", resolves=420, companions=OUTAGE)
def no_connections_are_left(stack):
    with contextlib.ExitStack() as taken:
        # As a role without the connections that are reserved for superusers, all others are taken.
        stack.postgres.sql("select pg_terminate_backend(pid) from pg_stat_activity where application_name like 'gatehouse%'")
        for _ in range(120):
            taken.enter_context(stack.postgres.session("select 1;"))
        yield


@injection("NoApi", "requests", 40, severity="page")
def the_api_stops(stack):
    stack.api.stop()
    yield
    stack.api.start()


@injection("BudgetBurn", "budget", 480, severity="ticket", resolves=420, companions=OUTAGE, after=30)
def postgres_was_away_for_15_seconds(stack):
    stack.postgres.stop("immediate")
    time.sleep(15)
    stack.postgres.start()
    yield


# The lane "workers": processes of the queue.


@injection("NoWorker", "workers", 60, severity="page", companions={"QueueLag"}, after=20)
def workers_with_only_one_queue(stack):
    for worker in stack.workers:
        worker.stop()
        worker.start("--queues", "webhooks")
    yield
    for worker in stack.workers:
        worker.stop()
        worker.start()


@injection("HeartbeatOld", "workers", 120, severity="ticket", companions={"JobsRescued", "JobsFenced"}, resolves=180)
def a_worker_hangs(stack):
    stack.workers[1].send(signal.SIGSTOP)
    yield
    stack.workers[1].send(signal.SIGCONT)


@injection("JobsRescued", "workers", 90, severity="ticket", resolves=180)
def a_worker_is_killed(stack):
    stack.provider.delay = 2
    time.sleep(4)
    stack.workers[1].stop(signal.SIGKILL)
    stack.workers[1].start()
    stack.provider.delay = 0
    yield


@injection("JobsFenced", "workers", 120, severity="ticket", companions={"JobsRescued", "HeartbeatOld"}, resolves=200)
def a_worker_stalls_for_longer_than_its_lease(stack):
    stack.provider.delay = 2
    time.sleep(4)
    stack.workers[1].send(signal.SIGSTOP)
    stack.provider.delay = 0
    time.sleep(45)
    stack.workers[1].send(signal.SIGCONT)
    yield


@injection("RestartLoop", "workers", 60, severity="ticket", resolves=180)
def a_worker_restarts_again_and_again(stack):
    for _ in range(4):
        stack.workers[1].stop()
        stack.workers[1].start()
        time.sleep(6)
    yield


@injection("ClockOffset", "workers", 60, severity="ticket")
def a_clock_is_20_seconds_ahead(stack):
    library = next(Path("/usr/lib").glob("*/faketime/libfaketimeMT.so.1"))
    worker = Process(stack, "wrong-clock", ["worker"], ["env", f"LD_PRELOAD={library}", "FAKETIME=+20s", "FAKETIME_DONT_FAKE_MONOTONIC=1"])
    worker.start()
    stack.scrape([worker.metrics])
    yield
    worker.stop()
    stack.scrape([])


# The lane "queue": work that does not get done.


@injection("QueueStalled", "queue", 150, severity="page", companions={"FinishBlocked", "QueueLag", "JobsRescued", "JobsFenced", "DatabaseErrors"}, resolves=240, after=20)
def verdicts_cannot_be_stored(stack):
    with stack.postgres.session("begin; lock table verdicts in share mode;"):
        yield


@injection("FinishBlocked", "queue", 120, severity="page", companions={"QueueStalled", "QueueLag", "JobsRescued", "JobsFenced", "DatabaseErrors"}, resolves=240)
def verdicts_cannot_be_recorded(stack):
    with stack.postgres.session("begin; lock table verdicts in share mode;"):
        yield


# What the fault before left is worked off first. Gauges keep their last numbers for 45 s, longer than the shortened window of
# QueueStalled, so a queue that had jobs when it was last read would seem to stand still.
@injection("StatsStale", "queue", 150, severity="page", companions={"DatabaseErrors"}, after=60)
def the_queues_cannot_be_read(stack):
    with stack.postgres.session("begin; lock table queue.dead_jobs in access exclusive mode;"):
        yield


@injection("JobsDied", "queue", 60, severity="ticket", resolves=180)
def a_payload_that_nobody_can_read(stack):
    stack.admin_run("queue", "pause", "--queue", "webhooks")
    for _ in range(40):
        time.sleep(1)
        if stack.postgres.sql("update queue.jobs set payload = '{\"broken\": true}' where queue = 'webhooks' and state = 0 returning 1"):
            break
    stack.admin_run("queue", "resume", "--queue", "webhooks")
    yield


@injection("QueueLag", "queue", 120, severity="ticket", companions={"NoWorker", "HeartbeatOld"})
def the_workers_stop(stack):
    for worker in stack.workers:
        worker.stop()
    yield
    for worker in stack.workers:
        worker.start()


@injection("QueueLag", "queue", 380, severity="page", companions={"NoWorker", "HeartbeatOld"})
def the_workers_stop_for_five_minutes(stack):
    with contextlib.contextmanager(the_workers_stop)(stack):
        yield


# The lane "analysis": providers.


@injection("UncheckedShare", "analysis", 150, severity="ticket", resolves=240, after=60)
def a_provider_has_no_scores(stack):
    stack.provider.mode = "blind"
    yield
    stack.provider.mode = "works"


@injection("ProviderPaused", "analysis", 180, severity="page", companions={"UncheckedShare", "QueueLag"}, resolves=400)
def a_provider_answers_503(stack):
    stack.provider.mode = "unavailable"
    yield
    stack.provider.mode = "works"


@injection("ProviderPaused", "breaker", 180, severity="page", companions={"UncheckedShare", "QueueLag"}, resolves=400, after=20)
def a_provider_answers_500(stack):
    stack.provider.mode = "failing"
    yield
    stack.provider.mode = "works"


# The lane "webhooks": receivers and addresses.


@injection("EgressSpike", "webhooks", 90, severity="ticket", resolves=240, after=20, companions={"UncheckedShare"})
def images_at_loopback_addresses(stack):
    stack.content_url = f"http://127.0.0.1:{free_port()}/picture.png"
    yield
    stack.content_url = None


@injection("WebhooksFailing", "webhooks", 180, severity="ticket", resolves=400)
def all_receivers_answer_500(stack):
    stack.receiver.status = 500
    yield
    stack.receiver.status = 200


@injection("EndpointDisabled", "webhooks", 90, severity="ticket", resolves=500, companions={"WebhooksFailing"})
def receivers_answer_410(stack):
    stack.receiver.status = 410
    time.sleep(5)
    stack.receiver.status = 200
    yield


# The lane "long": windows of hours and days. It begins with normal load, which is the day before.


@injection("VersionSkew", "long", 420, severity="ticket")
def a_process_of_another_version(stack):
    other = other_version()
    stack.scrape([other.port])
    yield
    stack.scrape([])
    other.close()


@injection("ApprovedShift", "long", 420, severity="ticket", resolves=800, after=30)
def a_provider_finds_hate_everywhere(stack):
    stack.provider.mode = "hate"
    yield
    stack.provider.mode = "works"


# The lane "database": what only the database shows.


@injection("ReviewAge", "database", 180, severity="ticket", after=20, resolves=240)
def an_item_waits_for_two_days(stack):
    oldest = "(select min(media_id::text)::uuid from reviews)"
    stack.postgres.sql(f"update reviews set waiting_since = waiting_since - interval '2 days' where media_id = {oldest}")
    yield
    stack.postgres.sql("update reviews set waiting_since = waiting_since + interval '2 days' where waiting_since < now() - interval '1 day'")


@injection("ReviewsOverdue", "database", 300, severity="ticket", after=20, resolves=300,
           rewrites=(("GatehouseReviewsOverdue", "> 10", "> 2"),), note="the threshold is 2 reviews instead of 10")
def reviews_are_late(stack):
    # Those that begin to wait meanwhile, too.
    def put_off(ended):
        stack.postgres.sql("update review_tasks set due_at = now() - interval '1 hour' where due_at > now()")
        ended.wait(1)
    end = repeat(put_off)
    yield
    end()
    stack.postgres.sql("update review_tasks set due_at = now() + interval '1 day'")


@injection("OldTransaction", "database", 120, severity="ticket",
           rewrites=(("GatehouseOldTransaction", "> 300", "> 40"),), note="the threshold is 40 s instead of 300")
def a_transaction_stays_open(stack):
    with stack.postgres.session("begin; select pg_current_xact_id();"):
        yield


@injection("DiskGrowth", "database", 180, severity="ticket", companions={"SubmitSlow"}, resolves=600)
def a_table_of_a_gibibyte(stack):
    stack.postgres.sql("create unlogged table ballast (filler text); alter table ballast alter filler set storage external; "
                       "insert into ballast select repeat('x', 1000000) from generate_series(1, 1300)")
    yield
    stack.postgres.sql("drop table ballast")


@injection("ArchivingFails", "wal", 180, severity="ticket", resolves=240, after=20)
def the_archive_is_full(stack):
    def archive_with(command):
        stack.postgres.sql(f"alter system set archive_command = '{command}'")
        stack.postgres.sql("select pg_reload_conf()")
        stack.postgres.sql("select pg_switch_wal()")
    archive_with("/bin/false")
    yield
    archive_with("/bin/true")


@injection("WalGrowth", "wal", 180, severity="page", companions={"SubmitSlow"}, resolves=300,
           rewrites=(("GatehouseWalGrowth", "> 3 *", "> 0.4 *"),), note="the threshold is 0.4 of the target instead of 3 times")
def a_slot_keeps_the_log_of_700_megabytes(stack):
    stack.postgres.sql("select pg_create_physical_replication_slot('gone', true)")
    stack.postgres.sql("create table ballast (filler text); alter table ballast alter filler set storage external; "
                       "insert into ballast select repeat('x', 1000000) from generate_series(1, 700); drop table ballast")
    yield
    stack.postgres.sql("select pg_drop_replication_slot('gone')")
    stack.postgres.sql("checkpoint")


@injection("AuditUnsealed", "database", 300, severity="ticket", companions={"DatabaseErrors", "OldTransaction"},
           rewrites=(("GatehouseAuditUnsealed", "> 600", "> 60"),), note="the threshold is 60 s instead of 600")
def the_audit_log_cannot_be_sealed(stack):
    with stack.postgres.session("begin; lock table audit_chains in share mode;"):
        stack.postgres.sql("insert into audit_log (id, actor, action, details) "
                           "values (gen_random_uuid(), 'command_line', 'site.update', '{}')")
        yield


@injection("RetentionLate", "database", 900, severity="ticket", resolves=900,
           rewrites=(("GatehouseRetentionLate", "> 3600", "> 720"),) * 2, companions={"OldTransaction", "DatabaseErrors"},
           note="the threshold is 12 minutes instead of an hour")
def old_rows_cannot_be_deleted(stack):
    with stack.postgres.session("begin; lock table backtests in share mode;"):
        yield
