// scripts/check-links finds what pages name and what does not exist.
import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { test } from "node:test";

const REPOSITORY = {
  "crates/queue/README.md": "# A queue\n",
  "crates/queue/src/lib.rs": "mod claim;\npub struct Queue;\n",
  "crates/queue/src/claim.rs": 'pub(crate) fn claim() {\n  info!("a job is claimed");\n  go_on();\n}\n',
  "docs/other.md": "# One heading\n\n## `Two` of *them*, and more\n\n## Again\n\n## Again\n",
  "migrations/1_first.sql": "create function first_due() returns int as '';\n",
};

/** What the script prints about a repository that also has `text` in `file`. */
function printed(text, file = "docs/page.md") {
  const directory = mkdtempSync(path.join(tmpdir(), "links-"));
  try {
    for (const [name, content] of Object.entries({ ...REPOSITORY, [file]: text })) {
      mkdirSync(path.dirname(path.join(directory, name)), { recursive: true });
      writeFileSync(path.join(directory, name), content);
    }
    execFileSync("git", ["init", "--quiet", directory]);
    const { status, stderr } = spawnSync("scripts/check-links", [directory], { encoding: "utf8" });
    assert.equal(status, stderr === "" ? 0 : 1, stderr);
    return stderr;
  } finally {
    rmSync(directory, { recursive: true });
  }
}

test("what exists is accepted", () => {
  const text = `# This page
[a page](other.md), [its heading](other.md#one-heading), [one with marks](other.md#two-of-them-and-more), [the second](other.md#again-1),
[this page](#this-page), [a directory](../crates/queue), [elsewhere](https://example.com/nothing.md), [one
over lines](other.md#again), ![a picture](other.md), \`[no](link.md)\`
<https://github.com/gatehouse-dev/gatehouse/blob/main/docs/other.md#again>

[reference]: other.md

\`docs/other.md\`, \`crates/queue/\`, \`crates/<name>/src\`, \`docs/*.md\`, \`src/claim.rs\`, \`application/json\`, \`/etc/gatehouse/key\`
[\`claim.rs\`](../crates/queue/src/claim.rs), \`claim\`; [first](../migrations/1_first.sql), \`first_due\`; \`Queue\` (\`src/lib.rs\`)
\`queue::claim::claim\`, \`queue::Queue\`

\`\`\`text
[no link](nothing.md)
{"message":"a job is claimed","target":"queue::claim"}
\`\`\`
`;
  assert.equal(printed(text), "");
});

const broken = [
  ["[a page](nothing.md)", /docs\/page\.md:1: nothing\.md leads to docs\/nothing\.md, which does not exist/],
  ["text\n[a page](other.md#no-heading)", /docs\/page\.md:2: other\.md#no-heading: docs\/other\.md has no heading/],
  ["[this page](#nothing)", /#nothing: docs\/page\.md has no heading/],
  ["[the third](other.md#again-2)", /again-2/],
  ["[reference]: nothing.md", /nothing\.md, which does not exist/],
  ["[one](other.md) [two](../nothing)", /\.\.\/nothing leads to nothing/],
  ["https://github.com/gatehouse-dev/gatehouse/blob/main/docs/nothing.md", /leads to docs\/nothing\.md/],
  ["`crates/nothing/src`", /`crates\/nothing\/src` is no file/],
  ["`crates/<name>/nothing`", /`crates\/<name>\/nothing` is no file/],
  ["`nothing.rs`", /`nothing\.rs` is no file/],
  ["`im.rs`", /`im\.rs` is no file/],
  ["[file](../crates/queue/src/claim.rs), `take`", /crates\/queue\/src\/claim\.rs does not define take/],
  ["[file](../crates/queue/src/claim.rs), `go_on`", /does not define go_on/],
  ["`take` (`src/claim.rs`)", /src\/claim\.rs does not mention take/],
  ["`queue::take::claim`", /there is no take in crates\/queue\/src/],
  ["`queue::claim::take`", /there is no take in crates\/queue\/src\/claim/],
  ['```\n{"message":"gone","target":"queue::claim"}\n```', /queue::claim does not log "gone"/],
  ['```\n{"message":"a job is claimed","target":"queue::take"}\n```', /there is no take/],
  ["1. [file](../crates/queue/src/claim.rs): no function", /a stop begins with/, "docs/reading.md"],
  ["`no_such_name`", /`no_such_name` is a name of nothing/, "docs/architecture.md"],
  ["// See docs/other.md#nothing.", /docs\/other\.md has no heading/, "crates/queue/src/claim.rs"],
];
for (const [text, message, file] of broken) {
  test(`${text.replaceAll("\n", " ")} is found`, () => assert.match(printed(text, file), message));
}
