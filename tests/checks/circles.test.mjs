// scripts/check-circles finds every circle among modules, and nothing else.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { test } from "node:test";

/** What the script prints about a crate with these files in src/. */
function printed(files) {
  const directory = mkdtempSync(path.join(tmpdir(), "circles-"));
  try {
    for (const [name, text] of Object.entries(files)) {
      const file = path.join(directory, "src", name);
      mkdirSync(path.dirname(file), { recursive: true });
      writeFileSync(file, text);
    }
    const { status, stderr } = spawnSync("scripts/check-circles", [directory], { encoding: "utf8" });
    assert.equal(status, stderr === "" ? 0 : 1, stderr);
    return stderr;
  } finally {
    rmSync(directory, { recursive: true });
  }
}

const LIB = "mod a;\nmod b;\n";
const BACK = "use crate::a::A;\n";

const circles = {
  "by `use`": { "lib.rs": LIB, "a.rs": "use crate::b::B;\npub struct A;", "b.rs": BACK },
  "by a `use` of several": { "lib.rs": LIB, "a.rs": "use {std::fmt, super::{b::{self, B as C}}};", "b.rs": BACK },
  "by a `use` of everything": { "lib.rs": LIB, "a.rs": "use crate::b::*;", "b.rs": BACK },
  "by a path in an expression": { "lib.rs": LIB, "a.rs": "fn f() { crate::b::g(); }", "b.rs": BACK },
  "by a path through an import": { "lib.rs": LIB, "a.rs": "use crate as root;\nfn f() { root::b::g(); }", "b.rs": BACK },
  "by a name that the parent passes on": { "lib.rs": `${LIB}pub use self::b::B;`, "a.rs": "use crate::B;", "b.rs": BACK },
  "by a name of everything that the parent has": { "lib.rs": `${LIB}use b::B;`, "a.rs": "use super::*;\nfn f(_: B) {}", "b.rs": BACK },
  "by everything that the parent passes on": {
    "lib.rs": `${LIB}pub use b::*;`,
    "a.rs": "fn f(_: crate::B) {}",
    "b.rs": `${BACK}pub struct B;`,
  },
  "by a path in an attribute": { "lib.rs": LIB, "a.rs": 'struct A { #[serde(with = "crate::b")] b: u8 }', "b.rs": BACK },
  "by a macro": {
    "lib.rs": LIB,
    "a.rs": "fn f() { crate::b!(); }",
    "b.rs": "#[macro_export]\nmacro_rules! b { () => { $crate::a::f() } }",
  },
  "in a macro's arguments": { "lib.rs": LIB, "a.rs": "fn f() { g!(x, crate::b::B) }", "b.rs": BACK },
  "among what is below": {
    "lib.rs": LIB,
    "a.rs": "mod c;\npub struct A;",
    "a/c.rs": "mod d { use crate::b::e::E; }",
    "b.rs": "pub mod e;",
    "b/e.rs": BACK,
  },
  "below another module": { "lib.rs": "mod m;", "m.rs": LIB, "m/a.rs": "use super::b::B;", "m/b.rs": "use crate::m::a::A;" },
  "of three": { "lib.rs": `${LIB}mod c;`, "a.rs": "use crate::b::B;", "b.rs": "use crate::c::C;", "c.rs": BACK },
  "in a program": { "main.rs": LIB, "a.rs": "use crate::b::B;", "b.rs": BACK },
  "with what is for tests or a feature": {
    "lib.rs": LIB,
    "a.rs": '#[cfg(any(test, feature = "x"))]\nuse crate::b::B;',
    "b.rs": BACK,
  },
};
for (const [name, files] of Object.entries(circles)) {
  test(`a circle ${name} is found`, () => assert.match(printed(files), /^a circle in .*, below crate(::m)?: a, b/));
}

const others = {
  "one direction": { "lib.rs": LIB, "a.rs": "pub struct A;", "b.rs": BACK },
  "a parent and its child": { "lib.rs": "mod a;\nuse a::A;\npub struct B;", "a.rs": "use super::B;\npub struct A;" },
  "a parent that puts its children together": {
    "lib.rs": `${LIB}use {a::A, b::B};\nfn f() {}`,
    "a.rs": "use crate::f;",
    "b.rs": "use crate::{a::A, f};",
  },
  "tests": {
    "lib.rs": LIB,
    "a.rs": "#[cfg(test)]\nmod tests { use crate::b::B; }\n#[cfg(test)]\nuse crate::b::{B, C};\npub struct A;",
    "b.rs": BACK,
  },
  "tests in a file": { "lib.rs": LIB, "a.rs": "#[cfg(test)]\nmod tests;", "a/tests.rs": "use crate::b::B;", "b.rs": BACK },
  "comments and texts": {
    "lib.rs": LIB,
    "a.rs": `//! [\`crate::b::B\`]
/* use crate::b::B; /* */ crate::b::f() */
const A: &str = "crate::b::B";
const R: &str = r#""crate::b"#;`,
    "b.rs": BACK,
  },
  "letters and lifetimes": {
    "lib.rs": LIB,
    "a.rs": `const Q: char = '"';\nfn f<'a>(x: &'a u8) {}\nconst A: &str = " crate::b::B ";`,
    "b.rs": BACK,
  },
  "who may see it": { "lib.rs": LIB, "a.rs": "pub(in crate::b) struct A;", "b.rs": BACK },
  "another crate of the same name": { "lib.rs": LIB, "a.rs": "use ::b::B;\nfn f() { b::g(); x.b::<u8>(); }", "b.rs": BACK },
  "a function of the parent, named as a module": { "lib.rs": `${LIB}fn b() {}`, "a.rs": "use super::b;\nfn f() { b(); }", "b.rs": BACK },
  "an import of the same name": { "lib.rs": LIB, "a.rs": "use time::time;\nfn f() { time::time::now(); }", "b.rs": BACK },
};
for (const [name, files] of Object.entries(others)) {
  test(`no circle: ${name}`, () => assert.equal(printed(files), ""));
}

test("the lines of a circle are named", () => {
  const text = printed({ "lib.rs": LIB, "a.rs": "\nuse crate::b::B;", "b.rs": BACK });
  assert.match(text, /a uses b:\n.*src\/a\.rs:2: crate::b::B\n/);
  assert.match(text, /b uses a:\n.*src\/b\.rs:1: crate::a::A\n/);
});
