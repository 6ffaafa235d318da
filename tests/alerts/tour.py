"""Draws incidents: normal load, a fault, its alert, the repair. Each is an installation of its own, one after the other.

Checks that the expected alert arrives, and that nothing is lost: each submission that was answered with 200 gets one verdict.
"""

import argparse
import json
import os
import subprocess
import sys
import time
from datetime import datetime, timezone
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
import incidents
from stack import ROOT, Stack
from waiting import runs, wait_for

PREFIX = "Gatehouse"
BEFORE, SEEN, AFTER = 60, 35, 30


def drawing(*arguments):
    return subprocess.run(["node", "tests/dashboards/incident.mjs", *arguments], cwd=ROOT, check=True, text=True, stdout=subprocess.PIPE).stdout


def queries(incident):
    """The SQL of its panels, by place. Fails if a panel does not exist."""
    return json.loads(drawing("queries", json.dumps(incident.panels)))


def rows(stack, sql):
    """The rows of a panel's query, read as the role that Grafana uses."""
    found = stack.postgres.sql(f"set role gatehouse_ops; select coalesce(json_agg(row_to_json(q)), '[]') from ({sql}) q")
    return json.loads(found)


def look(stack, kind, what):
    """What somebody sees who runs the command."""
    if kind == "gatehouse":
        done = subprocess.run([stack.program, *what.split()], env=stack.environment, text=True, capture_output=True)
        return done.stdout + done.stderr
    done = subprocess.run([f"{stack.postgres.programs}/psql", stack.postgres.url, "-qX", "-c", what], text=True, capture_output=True)
    return done.stdout + done.stderr


def undecided(stack):
    """How many accepted items have no verdict, and how many have several."""
    ids, without, doubled = list(stack.accepted), 0, 0
    for begin in range(0, len(ids), 1000):
        some = ",".join(f"'{media}'" for media in ids[begin:begin + 1000])
        counts = stack.postgres.sql(f"select count(*) from verdicts where media_id in ({some}) group by media_id").split()
        without += len(ids[begin:begin + 1000]) - len(counts)
        doubled += sum(count != "1" for count in counts)
    return without, doubled


class Report:
    """What is said while an incident runs. Times are seconds since the fault."""

    def __init__(self, name):
        self.name, self.fault, self.failed = name, None, False

    def say(self, text):
        since = f"{time.time() - self.fault:5.0f} s" if self.fault else " before"
        print(f"{self.name:18} {since}  {text}", flush=True)

    def fail(self, text):
        self.failed = True
        self.say(f"FAILED: {text}")


def arrivals(stack, begun):
    """Alerts since then, by name and severity: seconds until each arrived."""
    return {(name[len(PREFIX):], severity): at - begun for (name, severity), at in stack.pager.fired_since(begun, ()).items()}


def run(incident, options, report):
    sql = queries(incident)
    stack = Stack(incident.name, options.program, options.scale, incident.rewrites)
    try:
        given = incident.prepare(stack, incident)
        runs(stack)
        report.say(f"normal load for {BEFORE} s")
        time.sleep(BEFORE)
        marks = []
        fault, begun = time.time(), time.monotonic()
        report.fault = fault
        with incident.breaks(stack, given, marks):
            report.say(incident.title)

            def is_here():
                names = {name for name, _ in arrivals(stack, begun)}
                return bool(incident.alerts) and names.issuperset(incident.alerts)
            if incident.alerts and wait_for(is_here, options.patience) is None:
                report.fail(f"{', '.join(incident.alerts)} did not arrive")
            rest = max(SEEN, incident.lasts - (time.time() - fault))
            # Those who look do so a while before the repair.
            time.sleep(rest - 10)
            looked = time.time()
            tables = {place: rows(stack, text) for place, text in sql.items()}
            for label, text in incident.facts:
                since = datetime.fromtimestamp(fault, timezone.utc).isoformat()
                report.say(f"{label}: {stack.postgres.sql(text.format(fault=since))}")
            for kind, what in incident.looks:
                report.say(f"{kind}: {what}\n{look(stack, kind, what)}")
            time.sleep(10)
            leaves = time.time()
        for _, text in (mark for mark in marks if mark[0] is None):
            report.say(text)
        marks = [{"label": label, "time": at, "colour": "green"} for label, at in marks if label]
        repaired = marks[0]["time"] if marks else leaves
        marks = marks or [{"label": "repaired", "time": leaves, "colour": "green"}]
        report.say(f"repaired at {repaired - fault:.0f} s")
        time.sleep(max(0.0, AFTER - (time.time() - leaves)))
        end = time.time()
        found = arrivals(stack, begun)
        for (name, severity), after in sorted(found.items(), key=lambda item: item[1]):
            report.say(f"{severity} {name} arrived after {after:.0f} s")
        if not incident.alerts and any(severity == "page" for _, severity in found):
            report.fail("a page arrived")
        alerts = [{"label": name, "time": fault + min(after for (other, _), after in found.items() if other == name), "colour": "orange"}
                  for name in incident.alerts if any(other == name for other, _ in found)]
        audit(stack, report)
        given = {
            "title": incident.title, "panels": incident.panels, "tables": tables, "prometheus": f"127.0.0.1:{stack.prometheus}",
            "start": fault - BEFORE + 10, "end": end, "fault": fault, "looked": looked,
            "marks": [{"label": "fault", "time": fault, "colour": "red"}, *alerts, *marks],
            "path": str(options.directory / f"incident-{incident.name}.png"),
        }
        file = stack.directory / "incident.json"
        file.write_text(json.dumps(given))
        report.say(drawing("draw", str(file)).strip())
    finally:
        stack.close(options.keep)
        if options.keep:
            report.say(f"kept: {stack.directory}")


def audit(stack, report):
    """Stops the load, and waits until everything is decided."""
    stack.quiet.set()
    taken = wait_for(lambda: undecided(stack)[0] == 0, 180)
    without, doubled = undecided(stack)
    total = len(stack.accepted)
    report.say(f"{total} submissions were answered with 200; {total - without} have a verdict, {doubled} of them several; answers: {stack.answers()}")
    if taken is None or doubled:
        report.fail("items are without a verdict, or have several")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", metavar="incident", help=f"some of {', '.join(one.name for one in incidents.ALL)}; all without any")
    parser.add_argument("--program", default="target/release/gatehouse", help="the service")
    parser.add_argument("--directory", type=Path, default=ROOT / "docs/pictures", help="where pictures are written")
    parser.add_argument("--scale", type=float, default=10, help="by how much windows are shorter than in the shipped rules")
    parser.add_argument("--patience", type=float, default=240, help="seconds until the alert must have arrived")
    parser.add_argument("--keep", action="store_true", help="keep data and logs")
    options = parser.parse_args()
    options.program, options.directory = Path(options.program).resolve(), options.directory.resolve()
    unknown = set(options.names) - {one.name for one in incidents.ALL}
    if unknown:
        parser.error(f"no incident is called {', '.join(sorted(unknown))}")
    chosen = [one for one in incidents.ALL if not options.names or one.name in options.names]
    # A renamed panel is found before anything runs.
    for one in chosen:
        queries(one)
    begun, failed = time.monotonic(), []
    for one in chosen:
        report = Report(one.name)
        run(one, options, report)
        if report.failed:
            failed.append(one.name)
    print(f"{(time.monotonic() - begun) / 60:.1f} minutes in all; {'failed: ' + ', '.join(failed) if failed else 'all as expected'}", flush=True)
    os._exit(1 if failed else 0)


main()
