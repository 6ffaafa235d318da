"""Matches texts against many patterns with RE2's Set or with Hyperscan, when told to on standard input.

    match.py re2|hyperscan JOB

JOB is a JSON file with `patterns`, regular expressions, and `rounds`, each a list of texts. After compiling it prints a
line of JSON: the nanoseconds that this took. For every line on standard input, the number of a round, it goes over that
round's texts and prints the nanoseconds, and how many matches there were, each pattern counted once a text.
"""

import json
import sys
from time import perf_counter_ns


def re2_set(patterns):
    import re2

    options = re2.Options()
    # With the default of 8 MiB so many patterns do not compile.
    options.max_mem = 1 << 30
    chosen = re2.Set.SearchSet(options)
    for pattern in patterns:
        chosen.Add(pattern)
    chosen.Compile()
    # It answers None when nothing matches, and logs an error when it has too little memory.
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

    def on_match(number, start, end, flags, context):
        found.append(number)

    def match(text):
        found.clear()
        database.scan(text, match_event_handler=on_match)
        return len(found)

    return match


def answer(started, matches):
    print(json.dumps({"nanos": perf_counter_ns() - started, "matches": matches}), flush=True)


def main():
    engine, job = sys.argv[1:]
    with open(job, encoding="utf-8") as file:
        job = json.load(file)
    rounds = [[text.encode() for text in texts] for texts in job["rounds"]]
    started = perf_counter_ns()
    match = {"re2": re2_set, "hyperscan": hyperscan_database}[engine](job["patterns"])
    answer(started, 0)
    for line in sys.stdin:
        texts = rounds[int(line)]
        started = perf_counter_ns()
        answer(started, sum(map(match, texts)))


main()
