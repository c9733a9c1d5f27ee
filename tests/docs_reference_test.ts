import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import test from "node:test";
import { readConfigYaml } from "../lib/config/yaml_file.ts";
import { readQueueSettings } from "../lib/config/queue_settings.ts";
import { readServeSettings } from "../lib/config/serve_settings.ts";
import { readSettings } from "../lib/config/settings.ts";
import { catalog } from "../lib/events/catalog.ts";
import { hintFor } from "../lib/events/names.ts";
import { readTargets } from "../lib/outbound/target.ts";
import { readEntries } from "../lib/sources/shell/entry.ts";
import { PAGES } from "../scripts/docs.ts";
import { EXAMPLE } from "../scripts/docs_config.ts";
import { code, list, table, wrap } from "../scripts/docs_markdown.ts";

const DOCS = path.join(import.meta.dirname!, "..", "docs");

for (const [name, write] of Object.entries(PAGES)) {
  test(`docs/${name} is what scripts/docs writes`, () => {
    const there = fs.readFileSync(path.join(DOCS, name), "utf8");
    assert.ok(there === write(), `docs/${name} is out of date: run scripts/docs`);
  });

  test(`every link of docs/${name} leads to a file or a heading of its own`, () => {
    const text = fs.readFileSync(path.join(DOCS, name), "utf8");
    const headings = [...text.matchAll(/^#+ (.*)$/gm)].map(([, title]) =>
      title!.toLowerCase().replace(/[^a-z0-9_ -]/g, "").replaceAll(" ", "-")
    );
    const links = [...text.matchAll(/\]\(([^)]+)\)/g)].map(([, to]) => to!);
    assert.ok(links.length > 3);
    for (const to of links) {
      if (to.startsWith("#")) assert.ok(headings.includes(to.slice(1)), to);
      else assert.ok(fs.existsSync(path.join(DOCS, to)), to);
    }
  });
}

test("the event reference has a section for every event, with each of its fields", () => {
  const text = PAGES["reference-events.md"]!();
  const sections = new Map(
    text.split(/^### /m).slice(1).map((part) => [part.slice(1, part.indexOf("`", 1)), part]),
  );
  for (const { name, fields, answers } of catalog()) {
    const section = sections.get(name);
    assert.ok(section, `${name} has no section`);
    for (const field of fields) assert.ok(section.includes(`| \`${field.name}\``), field.name);
    assert.equal(section.includes("Answers that count:"), answers.length > 0, name);
  }
});

test("the example of the configuration reference is a config without a problem", async () => {
  const { root } = await readConfigYaml(EXAMPLE, "config.yaml");
  const settings = readSettings(root, "config.yaml");
  const env = { HERMES_OUTBOUND_WEBHOOK_SECRET: "s" };
  const problems = [
    ...settings.problems,
    ...readEntries(root, "config.yaml", hintFor).problems,
    ...readServeSettings(settings.serve, "config.yaml").problems,
    ...readQueueSettings(root, "config.yaml").problems,
    ...readTargets(root, "config.yaml", env).problems,
  ];
  assert.deepEqual(problems, []);
});

test("what Markdown would take for its own is escaped, but in code", () => {
  assert.equal(wrap("<home> and * but `<x> *`"), "&lt;home> and \\* but `<x> *`");
  assert.match(table(["a"], [["x | y"]]), /x \\\| y/);
  assert.equal(code("a`b"), "`` a`b ``");
});

test("prose is broken at 100 characters and never inside code", () => {
  const words = `${"word ".repeat(18)}\`one two three four five\` end`;
  const lines = wrap(words).split("\n");
  assert.deepEqual(lines.map((line) => line.length <= 100), lines.map(() => true));
  assert.ok(lines[1]!.startsWith("`one two three four five`"));
  assert.match(list(["word ".repeat(30)]), /^- word.*\n {2}word/);
});
