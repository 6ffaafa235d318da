"""Compares plain tables with the same tables partitioned by day, on a server that `scripts/bench-partitions` filled.

The server is the one of PGHOST and PGPORT. Usage: measure.py PART..., of the parts below.
"""

import glob
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile
import threading
import time

HERE = os.path.dirname(os.path.abspath(__file__))
ROUNDS = int(os.environ.get("ROUNDS", "3"))
SECONDS = int(os.environ.get("CELL", "4"))
ITEMS = int(os.environ.get("ITEMS", "50000"))
DAYS = int(os.environ.get("DAYS", "90"))
SCHEMAS = ("plain", "parted")
# Script, kind and number of items of a statement.
CASES = [
    ("status", "recent", 1),
    ("status", "spread", 16),
    ("load", "recent", 1),
    ("load", "recent", 16),
    ("way", "recent", 1),
    ("way", "recent", 16),
    ("list", "spread", 16),
    ("item", "spread", 1),
    ("named", "spread", 1),
]


# How Postgres plans prepared statements. sqlx leaves it at `auto`.
PLANS = os.environ.get("PLANS", "auto")


def environment(schema):
    return {**os.environ, "PGOPTIONS": f"-c search_path={schema},public -c plan_cache_mode={PLANS}"}


def sql(statements, schema="public"):
    """Runs statements, each in a transaction of its own, and returns what the last one found."""
    if isinstance(statements, str):
        statements = [statements]
    arguments = [argument for statement in statements for argument in ("-c", statement)]
    ran = subprocess.run(
        ["psql", "-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1", *arguments],
        env=environment(schema), check=True, capture_output=True, text=True,
    )
    return ran.stdout.strip()


def pgbench(schema, script, kind, size, clients, *more, log=None):
    if log:
        more = (*more, "--log", f"--log-prefix={log}")
    ran = subprocess.run(
        ["pgbench", "--no-vacuum", "--protocol=prepared", f"--client={clients}", f"--jobs={min(2, clients)}",
         f"--define=kind={kind}", f"--define=size={size}", f"--file={script}", *more],
        env=environment(schema), capture_output=True, text=True,
    )
    if ran.returncode or not re.search(r"failed transactions: 0 ", ran.stdout):
        raise SystemExit(f"pgbench failed: {ran.stderr} {ran.stdout}")
    return ran.stdout


def latencies(prefix):
    """Milliseconds of all transactions in the logs, in order of size."""
    values = []
    for name in glob.glob(prefix + ".*"):
        with open(name) as lines:
            values += [int(line.split()[2]) / 1000 for line in lines if line.split()[2].isdigit()]
        os.remove(name)
    return sorted(values)


def percentile(values, share):
    return values[min(len(values) - 1, int(share * len(values)))]


def show(head, rows):
    print("| " + " | ".join(head) + " |")
    print("|" + "---|" * len(head))
    for row in rows:
        print("| " + " | ".join(str(cell) for cell in row) + " |")
    print(flush=True)


def order(number):
    return SCHEMAS if number % 2 == 0 else SCHEMAS[::-1]


def path(script):
    return os.path.join(HERE, script + ".sql")


def statements():
    """Rates and times of the service's statements, with 1, 8 and 32 clients."""
    only = os.environ.get("ONLY")
    measured = {}
    with tempfile.TemporaryDirectory() as scratch:
        for number in range(ROUNDS):
            for script, kind, size in CASES:
                if only and script not in only.split(","):
                    continue
                for clients in (1, 8, 32):
                    for schema in order(number):
                        log = os.path.join(scratch, "log")
                        pgbench(schema, path(script), kind, size, clients, f"--time={SECONDS}", log=log)
                        times = latencies(log)
                        measured.setdefault((script, size, clients, schema), []).append(
                            (len(times) / SECONDS, percentile(times, 0.5), percentile(times, 0.99))
                        )
            print(f"round {number + 1} of {ROUNDS}", file=sys.stderr, flush=True)
    rows = []
    for script, size, clients in dict.fromkeys(key[:3] for key in measured):
        plain, parted = (measured[script, size, clients, schema] for schema in SCHEMAS)
        ratio = [statistics.median(b[n] / a[n] for a, b in zip(plain, parted)) for n in range(3)]
        middle = [[statistics.median(one[n] for one in side) for n in range(3)] for side in (plain, parted)]
        rows.append((
            script, size, clients, f"{middle[0][0]:.0f}", f"{middle[1][0]:.0f}", f"{ratio[0]:.2f}",
            f"{middle[0][1]:.2f} / {middle[0][2]:.2f}", f"{middle[1][1]:.2f} / {middle[1][2]:.2f}", f"{ratio[1]:.2f} / {ratio[2]:.2f}",
        ))
    show(("script", "items", "clients", "plain, a second", "partitioned", "ratio", "plain p50 / p99, ms", "partitioned", "ratios"), rows)


def plans():
    """Planning, execution and locks of each statement, by one client that has prepared it."""
    sql(["create table if not exists lock_counts (number serial, slow bigint, total bigint)",
         "create extension if not exists pg_stat_statements",
         "alter system set pg_stat_statements.track_planning = on", "select pg_reload_conf()"])
    rows = []
    with tempfile.TemporaryDirectory() as scratch:
        for script, kind, size in CASES:
            found = {}
            for schema in SCHEMAS:
                sql(["select pg_stat_statements_reset()"])
                pgbench(schema, path(script), kind, size, 1, "--transactions=600")
                planned = json.loads(sql(
                    "select json_agg(s) from (select plans, calls, mean_plan_time, mean_exec_time, query from pg_stat_statements"
                    " where query not like '%asked%' and query not like '%site_list%' and query ~ 'media|analyses|verdicts'"
                    " and calls >= 500 order by query) s"))
                with open(path(script)) as file:
                    text = file.read()
                counting = os.path.join(scratch, "locks.sql")
                with open(counting, "w") as file:
                    file.write("begin;\n" + text + (
                        "\nselect count(*) filter (where not fastpath) as slow, count(*) as total from pg_locks"
                        " where pid = pg_backend_pid() and locktype = 'relation' \\gset\n"
                        "insert into lock_counts (slow, total) values (:slow, :total);\ncommit;\n"))
                sql("truncate lock_counts")
                pgbench(schema, counting, kind, size, 1, "--transactions=20")
                locks = sql("select total || ' (' || slow || ')' from lock_counts order by number desc limit 1")
                found[schema] = (
                    sum(one["mean_plan_time"] * one["plans"] / one["calls"] for one in planned),
                    sum(one["mean_exec_time"] for one in planned),
                    f'{sum(one["plans"] for one in planned)} of {sum(one["calls"] for one in planned)}', locks)
            plain, parted = found["plain"], found["parted"]
            rows.append((script, size, *(f"{one[0]:.3f} + {one[1]:.3f}" for one in (plain, parted)), plain[2], parted[2], plain[3], parted[3]))
    sql(["alter system reset pg_stat_statements.track_planning", "select pg_reload_conf()"])
    show(("script", "items", "plain: planning + execution, ms", "partitioned", "plain: planned of calls", "partitioned",
          "plain: locks (not by the fast path)", "partitioned"), rows)


def sizes(schema):
    """Megabytes of each table and of its indexes."""
    rows = sql(
        "select coalesce(p.relname, c.relname), sum(pg_table_size(c.oid)), sum(pg_indexes_size(c.oid))"
        " from pg_class c left join pg_inherits i on i.inhrelid = c.oid left join pg_class p on p.oid = i.inhparent"
        f" where c.relnamespace = '{schema}'::regnamespace and c.relkind = 'r' group by 1 order by 1 desc")
    return {name: (int(table) / 1e6, int(index) / 1e6) for name, table, index in (row.split("|") for row in rows.splitlines())}


def total(found):
    return sum(sum(pair) for pair in found.values())


def wal():
    return int(sql("select pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0')::bigint"))


class Load(threading.Thread):
    """Items on their way, 100 a second, and 200 status queries a second."""

    def __init__(self, schema, seconds, scratch):
        super().__init__()
        self.parts = [
            (schema, path("way"), "recent", 1, 8, f"--time={seconds}", "--rate=100"),
            (schema, path("status"), "recent", 1, 8, f"--time={seconds}", "--rate=200"),
        ]
        self.scratch = scratch
        self.found = {}

    def run(self):
        def part(arguments):
            name = os.path.basename(arguments[1])
            log = os.path.join(self.scratch, name)
            pgbench(*arguments, log=log)
            self.found[name] = latencies(log)

        parts = [threading.Thread(target=part, args=(arguments,)) for arguments in self.parts]
        for one in parts:
            one.start()
        for one in parts:
            one.join()

    def text(self):
        return " | ".join(
            f"{percentile(self.found[name], 0.5):.2f} / {percentile(self.found[name], 0.99):.2f} / {self.found[name][-1]:.0f}"
            for name in ("way.sql", "status.sql"))


def partitions_of(number):
    name = sql(f"select to_char((select day from today) + {number}, 'YYYYMMDD')")
    return [f"{table}_{name}" for table in ("media", "verdicts", "analyses")]


def drop(number):
    sql([f"drop table parted.{name}" for name in partitions_of(number)])


def beside(schema, seconds, act, scratch):
    """Runs `act` beside the load, and says what it took and what it did to the load."""
    sql("checkpoint")
    load = Load(schema, seconds, scratch)
    written = wal()
    load.start()
    time.sleep(3)
    begun = time.monotonic()
    if act:
        act()
    took = time.monotonic() - begun
    load.join()
    return load, took, wal() - written


def retention():
    """The oldest days go, two at a time, beside a load: by slices of 500, and by dropping their partitions."""
    oldest = int(os.environ.get("OLDEST", str(1 - DAYS)))
    seconds = int(os.environ.get("RETENTION_SECONDS", "30"))
    slice_size = int(os.environ.get("SLICE", "500"))
    rows = []

    def slices():
        sql(f"call forget({oldest + 2}, {slice_size})", "plain")

    def drops():
        drop(oldest)
        drop(oldest + 1)

    with tempfile.TemporaryDirectory() as scratch:
        for schema, name, act in (
            ("plain", "idle", None), ("parted", "idle", None), ("plain", f"slices of {slice_size}", slices), ("parted", "drop", drops),
        ):
            before = sizes(schema)
            load, took, written = beside(schema, seconds, act, scratch)
            rows.append((schema, name, f"{took:.1f}", load.text().split(" | ")[0], load.text().split(" | ")[1], f"{written / 1e6:.0f}",
                         f"{total(before):.0f}", f"{total(sizes(schema)):.0f}"))
            print(rows[-1], file=sys.stderr, flush=True)
    show(("tables", "what goes", "s", "way of an item, p50 / p99 / most, ms", "status", f"WAL in {seconds} s, MB", "MB before", "after"), rows)


def reader():
    """A partition is dropped while a transaction of five seconds has read the table, as a backup does."""
    oldest = int(os.environ.get("OLDEST", str(1 - DAYS)))
    rows = []
    with tempfile.TemporaryDirectory() as scratch:
        for name, act in (
            ("drop table", lambda: drop(oldest)),
            ("detach concurrently, drop table", lambda: sql(
                [statement for name in partitions_of(oldest + 1) for statement in (
                    f"alter table parted.{name.split('_')[0]} detach partition parted.{name} concurrently", f"drop table parted.{name}")])),
        ):
            def with_reader(act=act):
                held = threading.Thread(target=lambda: sql("begin; select count(*) from (select from media limit 1) m; select pg_sleep(5); commit", "parted"))
                held.start()
                time.sleep(0.5)
                act()
                held.join()

            load, took, _ = beside("parted", 15, with_reader, scratch)
            rows.append((name, f"{took:.1f}", *load.text().split(" | ")))
    show(("beside a reader of 5 s", "s", "way of an item, p50 / p99 / most, ms", "status"), rows)


def settle():
    """Waits until autovacuum has nothing to do."""
    quiet = 0
    while quiet < 2:
        time.sleep(0.2)
        running = int(sql("select count(*) from pg_stat_progress_vacuum") or 0)
        due = int(sql(
            "select count(*) from pg_stat_user_tables s join pg_class c on c.oid = s.relid, lateral ("
            " select coalesce((select option_value::float8 from pg_options_to_table(c.reloptions) where option_name ="
            " 'autovacuum_vacuum_scale_factor'), 0.2) as factor) f"
            " where s.schemaname = 'cycle' and s.n_dead_tup > 50 + f.factor * greatest(c.reltuples, 0)"))
        quiet = 0 if running or due else quiet + 1


def cycle(factor, keeping):
    """Days pass: a day's items come, the oldest day's go, and autovacuum does what it does."""
    kept, items = int(os.environ.get("CYCLE_DAYS", "30")), int(os.environ.get("CYCLE_ITEMS", "20000"))
    tables = ("media", "verdicts", "analyses")
    sql(["drop schema if exists cycle cascade", "create schema cycle",
         *(f"create table cycle.{table} (like plain.{table} including all)" for table in tables),
         "alter table cycle.media set (fillfactor = 85)",
         f"update sites set item_retention_days = case when right(id::text, 1) < '{keeping}' then null else {kept} end"])
    if factor:
        sql([f"alter table cycle.{table} set (autovacuum_vacuum_scale_factor = {factor})" for table in tables])
    rows = []
    for number in range(1, 3 * kept + 1):
        sql([f"call make_day({number}, {items})", "call store_day('cycle')"])
        if number > kept:
            sql(f"call forget({number - kept + 1}, 500)", "cycle")
        settle()
        if number % (kept // 3) == 0:
            now = sizes("cycle")
            rest = int(sql("select count(*) from cycle.media"))
            rows.append((number, rest, *(f"{a:.0f} + {b:.0f}" for a, b in now.values()), f"{total(now):.0f}", f"{total(now) * 1e6 / rest:.0f}"))
            print(rows[-1], file=sys.stderr, flush=True)
    vacuums = sql("select string_agg(relname || ' ' || autovacuum_count, ', ') from pg_stat_user_tables where schemaname = 'cycle'")
    show(("day", "items", *(f"{name}: table + indexes, MB" for name in now), "together", "bytes an item"), rows)
    print(f"autovacuum_vacuum_scale_factor {factor or 'as it is'}; times vacuumed: {vacuums}\n", flush=True)


def days():
    """What the tables take, over three times as many days as items are kept."""
    # A day passes in seconds here, so autovacuum looks as often, and does not pause.
    sql(["alter system set autovacuum_naptime = '1s'", "alter system set autovacuum_vacuum_cost_delay = 0", "select pg_reload_conf()"])
    only = os.environ.get("CYCLES", "default,eager,mixed").split(",")
    if "default" in only:
        cycle(None, "")
    if "eager" in only:
        cycle(0.02, "")
    if "mixed" in only:
        # Every second site keeps its items for ever.
        cycle(0.02, "8")


PARTS = {part.__name__: part for part in (statements, plans, retention, reader, days)}

if __name__ == "__main__":
    for name in sys.argv[1:]:
        print(f"## {name}\n", flush=True)
        PARTS[name]()
