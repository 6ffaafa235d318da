"""Asks a Prometheus the questions of the ScaledObjects: with work, without, when nobody reads the queues, and without any data. Runs
promtool.

python scaling.py objects.json      the file that manifests.py wrote
"""

import json
import re
import subprocess
import sys
import tempfile

import yaml

# The questions are asked after five minutes, so `time()` is 300. Samples come every 15 s.
SAMPLES = 20
STOPPED = 8


def series(queues, runnable, running, oldest, read):
    """Two workers of ten slots for each queue, and what the process that reads the queues shows of each."""
    yield "gatehouse_queue_stats_timestamp_seconds", {}, read
    for queue in queues:
        for worker in ("a", "b"):
            yield "gatehouse_worker_slots", {"queue": queue, "instance": worker}, f"10x{SAMPLES}"
        yield "gatehouse_queue_runnable", {"queue": queue}, runnable
        yield "gatehouse_queue_jobs", {"queue": queue, "state": "running"}, running
        yield "gatehouse_queue_oldest_runnable_timestamp_seconds", {"queue": queue}, oldest


def cases(queues):
    """Each with its series, and the answers to the two questions; `None` is an empty answer."""
    now = f"0+15x{SAMPLES}"
    # The gauges of queues disappear then; the two timestamps stay where they were.
    frozen = f"0+15x{STOPPED} {15 * STOPPED}x{SAMPLES - STOPPED - 1}"
    gone = f"4x{STOPPED} stale"
    return {
        "work": (series(queues, f"4x{SAMPLES}", f"3x{SAMPLES}", f"258x{SAMPLES}", now), {"slots": 0.7, "lag": 42}),
        "no work": (series(queues, f"0x{SAMPLES}", f"0x{SAMPLES}", now, now), {"slots": 0, "lag": 0}),
        "nobody reads": (series(queues, gone, gone, frozen, frozen), {"slots": None, "lag": None}),
        "no data": ([], {"slots": None, "lag": None}),
    }


def labels(members):
    return "{" + ",".join(f'{name}="{value}"' for name, value in {"namespace": "gatehouse", **members}.items()) + "}"


def expected(trigger, answers):
    value = answers[trigger["name"]]
    samples = [] if value is None else [{"labels": "{}", "value": value}]
    return {"expr": trigger["metadata"]["query"], "eval_time": "5m", "exp_samples": samples}


def tests(scaled):
    for document in scaled:
        triggers = document["spec"]["triggers"]
        (named,) = {names for trigger in triggers for names in re.findall(r'queue=~"([^"]+)"', trigger["metadata"]["query"])}
        for case, (shown, answers) in cases(named.split("|")).items():
            yield {
                "name": f"{document['metadata']['name']}: {case}",
                "interval": "15s",
                "input_series": [{"series": name + labels(members), "values": values} for name, members, values in shown],
                "promql_expr_test": [expected(trigger, answers) for trigger in triggers],
            }


with open(sys.argv[1]) as file:
    objects = json.load(file)
written = list(tests([document for document in objects if document["kind"] == "ScaledObject"]))
assert written, "nothing is scaled"
with tempfile.NamedTemporaryFile("w", suffix=".test.yml") as file:
    yaml.safe_dump({"rule_files": [], "tests": written}, file)
    file.flush()
    result = subprocess.run(["promtool", "test", "rules", file.name], capture_output=True, text=True, check=False)
if result.returncode:
    sys.exit(f"the questions of the ScaledObjects have other answers:\n{result.stdout}{result.stderr}")
print(f"{len(written)} cases of scaling have the right answers")
