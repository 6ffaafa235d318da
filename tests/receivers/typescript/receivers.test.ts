// The TypeScript of docs/webhooks.md against the vectors, and against what a real service sent.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { mock, test } from "node:test";

import { isGenuine } from "./extracted/by_hand.js";
import { verify } from "./extracted/library.js";

interface Vector {
  name: string;
  secret: string;
  now: number;
  headers: Record<string, string>;
  body: string;
  expected: { service: string; standard: string };
}

function vectors(...variables: string[]): Vector[] {
  const paths = variables.flatMap((variable) => process.env[variable]!.split(":"));
  return paths.flatMap((path) => JSON.parse(readFileSync(path, "utf8")).vectors);
}

/** Headers as in Node.js: names are in lower case. */
function headersOf({ headers }: Vector) {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
}

function librarySays(vector: Vector): boolean {
  try {
    const event = verify(Buffer.from(vector.body), headersOf(vector), vector.secret);
    assert.deepEqual(event, JSON.parse(vector.body));
    return true;
  } catch (error) {
    if (error instanceof assert.AssertionError) throw error;
    return false;
  }
}

test("by hand", () => {
  for (const vector of vectors("VECTORS", "RECEIVED")) {
    const said = isGenuine(Buffer.from(vector.body), headersOf(vector), vector.secret);
    assert.equal(said, vector.expected.service === "valid", vector.name);
  }
});

test("library", () => {
  for (const vector of vectors("VECTORS")) {
    mock.timers.enable({ apis: ["Date"], now: vector.now * 1000 });
    assert.equal(librarySays(vector), vector.expected.standard === "valid", vector.name);
    mock.timers.reset();
  }
});

test("library with what was received", () => {
  const received = vectors("RECEIVED");
  assert.ok(received.length >= 6);
  for (const vector of received) {
    assert.ok(librarySays(vector), vector.name);
    assert.ok(!librarySays({ ...vector, body: vector.body + " " }), vector.name);
  }
});
