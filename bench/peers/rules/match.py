"""Matches texts against many patterns with RE2's Set or with Hyperscan, when told to on standard input.

    match.py re2|hyperscan JOB

JOB is a JSON file with `patterns`, regular expressions, and `texts`. After compiling, and after every line on standard
input, it goes once over all texts and prints a line of JSON: the nanoseconds, and how many patterns matched each text.
"""

import json
import sys
from time import perf_counter_ns


def re2_set(patterns):
    import re2

    options = re2.Options()
    # The default of 8 MiB is too little for so many patterns: matching fails, and says so only on standard error.
    options.max_mem = 1 << 30
    options.log_errors = False
    chosen = re2.Set.SearchSet(options)
    for pattern in patterns:
        chosen.Add(pattern)
    chosen.Compile()
    return lambda text: len(chosen.Match(text) or ())


def hyperscan_database(patterns):
    import hyperscan

    flags = hyperscan.HS_FLAG_SINGLEMATCH | hyperscan.HS_FLAG_UTF8
    database = hyperscan.Database(mode=hyperscan.HS_MODE_BLOCK)
    database.compile(
        expressions=[pattern.encode() for pattern in patterns],
        ids=list(range(len(patterns))),
        elements=len(patterns),
        flags=[flags] * len(patterns),
    )
    found = []
    on_match = lambda number, start, end, flags, context: found.append(number)

    def match(text):
        found.clear()
        database.scan(text, match_event_handler=on_match)
        return len(found)

    return match


def main():
    engine, job = sys.argv[1:]
    with open(job, encoding="utf-8") as file:
        job = json.load(file)
    texts = [text.encode() for text in job["texts"]]
    started = perf_counter_ns()
    match = {"re2": re2_set, "hyperscan": hyperscan_database}[engine](job["patterns"])
    compiled = perf_counter_ns() - started
    print(json.dumps({"nanos": compiled, "matches": []}), flush=True)
    for _ in sys.stdin:
        started = perf_counter_ns()
        matches = [match(text) for text in texts]
        nanos = perf_counter_ns() - started
        print(json.dumps({"nanos": nanos, "matches": matches}), flush=True)


main()
