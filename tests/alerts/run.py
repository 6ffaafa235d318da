"""Breaks a real service in every way that an alert is for, and checks that the alert arrives in time, alone, and resolves.

Installations of their own (lanes) run side by side; the injections of a lane follow each other.
"""

import argparse
import os
import sys
import threading
import time
import traceback
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
import injections
from stack import Stack
from waiting import runs, settle, wait_for

PREFIX = "Gatehouse"


class Results:
    def __init__(self):
        self.lock, self.rows, self.failed, self.begun = threading.Lock(), [], 0, time.monotonic()

    def say(self, lane, text):
        with self.lock:
            print(f"{time.monotonic() - self.begun:6.0f} s  {lane:9} {text}", flush=True)

    def add(self, alert, severity, outcome, arrived, resolved, companions):
        with self.lock:
            self.rows.append((alert, severity, outcome, arrived, resolved, companions))
            self.failed += outcome != "right"


def run(stack, injection, results):
    alert, name = PREFIX + injection.alert, injection.breaks.__name__.replace("_", " ")
    time.sleep(injection.after)
    if settle(stack, 60) is None:
        results.say(stack.name, f"{injection.alert}: alerts fire before the injection: {', '.join(sorted(stack.pager.names()))}")
        results.add(injection.alert, injection.severity, "not quiet before", None, None, "")
        return
    begun = time.monotonic()
    results.say(stack.name, f"{injection.alert}: {name} ...")
    with injection.breaks(stack):
        wanted = (alert, injection.severity)
        arrived = wait_for(lambda: wanted in stack.pager.fired_since(begun, ()), max(0.0, injection.within - (time.monotonic() - begun)))
        if arrived is not None:
            arrived = stack.pager.fired_since(begun, ())[wanted] - begun
    resolved = settle(stack, injection.resolves)
    others = {found[len(PREFIX):] for found, _ in stack.pager.fired_since(begun)} - {injection.alert}
    strangers = others - injection.companions
    outcome = "right"
    if arrived is None:
        outcome = "did not arrive"
    elif strangers:
        outcome = f"not alone: {', '.join(sorted(strangers))}"
    elif resolved is None:
        outcome = f"not resolved: {', '.join(sorted(stack.pager.names()))}"
    results.say(stack.name, f"{injection.alert}: {outcome}; arrived {shown(arrived)}, resolved {shown(resolved)}, with {', '.join(sorted(others)) or 'no other'}")
    results.add(injection.alert, injection.severity, outcome, arrived, resolved, ", ".join(sorted(others)))


def shown(seconds):
    return "-" if seconds is None else f"{seconds:.0f} s"


def run_lane(lane, chosen, options, results):
    stack = None
    try:
        stack = Stack(lane, options.program, options.scale, [rewrite for injection in chosen for rewrite in injection.rewrites])
        runs(stack)
        for injection in chosen:
            run(stack, injection, results)
        results.say(lane, f"ends; {stack.answers()}")
    except Exception as error:
        traceback.print_exc()
        results.say(lane, f"FAILED: {error}")
        results.add(lane, "", f"failed: {error}", None, None, "")
    finally:
        if stack:
            stack.close(options.keep)
            if options.keep:
                results.say(lane, f"kept: {stack.directory}")


def run_quiet(options, results):
    stack = Stack("quiet", options.program, options.scale)
    try:
        wait_for(lambda: len(stack.query_quietly("up == 1")) == 3, 60)
        settle(stack, 120)
        begun = time.monotonic()
        results.say("quiet", f"{options.quiet_minutes} minutes of normal load ...")
        time.sleep(options.quiet_minutes * 60)
        fired = stack.pager.fired_since(begun)
        outcome = "right" if not fired else f"fired: {', '.join(sorted(name for name, _ in fired))}"
        results.say("quiet", f"{outcome}; {stack.answers()}")
        results.add("(none)", "", outcome, None, None, f"{options.quiet_minutes} quiet minutes")
    finally:
        stack.close(options.keep)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--program", default="target/release/gatehouse", help="the service")
    parser.add_argument("--only", action="append", metavar="ALERT", help="only the injections of this alert, such as QueueLag")
    parser.add_argument("--quiet-minutes", type=float, default=10, help="minutes of normal load in which nothing may fire; 0 for none")
    parser.add_argument("--scale", type=float, default=10, help="by how much windows are shorter than in the shipped rules")
    parser.add_argument("--keep", action="store_true", help="keep data and logs")
    options = parser.parse_args()
    options.program = Path(options.program).resolve()
    known = {injection.alert for injection in injections.ALL}
    for alert in options.only or []:
        if alert not in known:
            parser.error(f"no injection for {alert}; there are {', '.join(sorted(known))}")
    chosen = [injection for injection in injections.ALL if not options.only or injection.alert in options.only]
    results = Results()
    print(f"{len(chosen)} injections. Windows are {options.scale:g} times shorter than in deploy/alerts/gatehouse.rules.yml; thresholds are as shipped, except:")
    for injection in chosen:
        if injection.note:
            print(f"  {injection.alert}: {injection.note}")
    lanes = {}
    for injection in chosen:
        lanes.setdefault(injection.lane, []).append(injection)
    threads = [threading.Thread(target=run_lane, args=(lane, work, options, results)) for lane, work in lanes.items()]
    if options.quiet_minutes:
        threads.append(threading.Thread(target=run_quiet, args=(options, results)))
    for thread in threads:
        thread.start()
        # Not all at once: each makes a database.
        time.sleep(3)
    for thread in threads:
        thread.join()
    print(f"\n{'alert':17} {'severity':8} {'arrived':>8} {'resolved':>8}  outcome; other alerts")
    for alert, severity, outcome, arrived, resolved, others in results.rows:
        print(f"{alert:17} {severity:8} {shown(arrived):>8} {shown(resolved):>8}  {outcome}; {others or 'none'}")
    print(f"{(time.monotonic() - results.begun) / 60:.1f} minutes in all")
    sys.stdout.flush()
    os._exit(1 if results.failed else 0)


main()
