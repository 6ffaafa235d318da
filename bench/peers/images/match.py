"""Looks up hashes in faiss, and hashes pictures with the reference's library, when told to on standard input.

    match.py flat|multi DIRECTORY     the two indexes that ThreatExchange uses
    match.py pdqhash DIRECTORY

DIRECTORY has `listed`, hashes of 32 bytes each, and files of hashes to look up or of pictures. An index first prints a line of
JSON with the nanoseconds that it took to make. For every line on standard input it answers with one.

An index is given the name of a file and a number: it looks up so many of its hashes, one after the other, and answers with the
nanoseconds of each, and whether it is within 31 bits of a listed one. `pdqhash` is given the name of a file with three bytes a pixel, and the
picture's width and height: it answers with the nanoseconds and the hash.
"""

import json
import sys
from pathlib import Path
from time import perf_counter_ns

import numpy

BITS = 256
# What is found is nearer than this.
RADIUS = 32


def say(**answer):
    print(json.dumps(answer), flush=True)


def index(kind):
    import faiss

    # One query is one thread's work with us, too.
    faiss.omp_set_num_threads(1)
    if kind == "flat":
        return faiss.IndexBinaryFlat(BITS)
    multi = faiss.IndexBinaryMultiHash(BITS, 16, BITS // 16)
    # With one bit flipped in a word, nothing within 31 bits is missed.
    multi.nflip = 1
    return multi


def look_up(kind, directory):
    listed = hashes(directory / "listed")
    started = perf_counter_ns()
    made = index(kind)
    made.add(listed)
    say(nanos=perf_counter_ns() - started)
    for line in sys.stdin:
        name, count = line.split()
        nanos, found = [], []
        for query in hashes(directory / name)[: int(count)]:
            query = query.reshape(1, -1)
            started = perf_counter_ns()
            limits, _, _ = made.range_search(query, RADIUS)
            nanos.append(perf_counter_ns() - started)
            found.append(bool(limits[1] > 0))
        say(nanos=nanos, found=found)


def hashes(file):
    return numpy.fromfile(file, dtype=numpy.uint8).reshape(-1, BITS // 8)


def hash_pictures(directory):
    import pdqhash

    for line in sys.stdin:
        name, width, height = line.split()
        pixels = numpy.fromfile(directory / name, dtype=numpy.uint8).reshape(int(height), int(width), 3)
        started = perf_counter_ns()
        bits, quality = pdqhash.compute(pixels)
        nanos = perf_counter_ns() - started
        say(nanos=nanos, hash="%064x" % int("".join(map(str, bits)), 2), quality=quality)


def main():
    what, directory = sys.argv[1:]
    directory = Path(directory)
    if what == "pdqhash":
        hash_pictures(directory)
    else:
        look_up(what, directory)


main()
