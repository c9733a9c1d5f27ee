import assert from "node:assert/strict";
import test from "node:test";
import { expandNode } from "../lib/config/expand.ts";
import { at, type ConfigNode } from "../lib/config/node.ts";
import { readYaml } from "../lib/config/yaml.ts";

function tree(text: string): ConfigNode {
  const { root } = readYaml(text, "config.yaml");
  assert.ok(root);
  return root;
}

function valueOf(text: string, env: Record<string, string>): unknown {
  const value = at(expandNode(tree(`a: ${text}\n`), env).node, "a");
  assert.ok(value?.kind === "scalar");
  return value.value;
}

test("${NAME} and ${env:NAME} are replaced anywhere in a string", () => {
  const env = { A: "1", B_2: "two" };
  assert.equal(valueOf("x${A}y${env:B_2}${A}", env), "x1ytwo1");
  assert.equal(valueOf("'${A}'", env), "1");
});

test("what is replaced stays a string and is not read again", () => {
  assert.equal(valueOf("${A}", { A: "yes" }), "yes");
  assert.equal(valueOf("${A}", { A: "${B}", B: "no" }), "${B}");
  assert.equal(valueOf("${A}", { A: "$& $1" }), "$& $1");
});

test("an empty variable is set", () => {
  assert.equal(valueOf("x${A}", { A: "" }), "x");
});

test("anything else with a dollar stays as it is, without a warning", () => {
  for (const text of ["$A", "${}", "${1A}", "${A-b}", "${A:-b}", "${ A }", "${Env:A}", "${env:}"]) {
    const { node, problems } = expandNode(tree(`a: '${text}'\n`), { A: "1" });
    assert.deepEqual([at(node, "a"), problems], [at(tree(`a: '${text}'\n`), "a"), []]);
  }
});

test("an unset name stays and is one warning with its path and line", () => {
  const text = "hooks:\n  pre_tool_call:\n    - command: ${NO_SUCH} ${NO_SUCH} ${env:HOME}\n";
  const { node, problems } = expandNode(tree(text), { HOME: "/h" }, "/c/config.yaml");
  const list = at(at(node, "hooks"), "pre_tool_call");
  assert.ok(list?.kind === "list");
  const command = at(list.items[0], "command");
  assert.ok(command?.kind === "scalar");
  assert.equal(command.value, "${NO_SUCH} ${NO_SUCH} /h");
  assert.deepEqual(problems, [{
    severity: "warning",
    file: "/c/config.yaml",
    path: "hooks.pre_tool_call[0].command",
    line: 3,
    message:
      '"NO_SUCH" is not set, the reference stays as it is; set it in the environment or in .env',
  }]);
});

test("names from Object.prototype are not set", () => {
  assert.equal(valueOf("${constructor}", {}), "${constructor}");
});

test("keys are not replaced", () => {
  const { node, problems } = expandNode(tree("${A}: ${A}\n"), { A: "1" });
  assert.ok(node.kind === "map");
  assert.deepEqual([...node.entries.keys()], ["${A}"]);
  assert.deepEqual(problems, []);
});

test("a tree without references is the very tree given, and so is an unchanged branch", () => {
  const plain = tree("a: [b, {c: d}]\n");
  assert.equal(expandNode(plain, {}).node, plain);
  const mixed = tree("a: [b]\nc: ${D}\n");
  const expanded = expandNode(mixed, { D: "e" }).node;
  assert.notEqual(expanded, mixed);
  assert.equal(at(expanded, "a"), at(mixed, "a"));
  assert.equal((at(mixed, "c") as { value: unknown }).value, "${D}");
});

test("an aliased value is expanded once and warned about once", () => {
  const { node, problems } = expandNode(tree("a: &a [x, '${NO}']\nb: *a\nc: [*a, *a]\n"), {});
  assert.equal(problems.length, 1);
  assert.equal(at(node, "a"), at(node, "b"));
});

test("a string in bytes or a date is no string value", () => {
  const root = tree("a: 2024-01-02\nb: !!binary aGVsbG8=\n");
  assert.equal(expandNode(root, {}).node, root);
});
