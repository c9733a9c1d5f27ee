/** What is in packaging/: it names things as they are, and the image's root file system works. */
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import process from "node:process";
import test from "node:test";
import { parseAllDocuments } from "yaml";
import { readArgs } from "../lib/cli/args.ts";

const ROOT = path.join(import.meta.dirname!, "..");
const read = (name: string) => fs.readFileSync(path.join(ROOT, "packaging", name), "utf8");
const BINARY = path.join(ROOT, "dist", "hermes-hooks");

/** Why the root file system cannot be built and entered here. */
function notHere(): string | false {
  if (process.platform !== "linux") return "not on Linux";
  if (process.getuid?.() !== 0) return "needs root";
  if (!fs.existsSync(BINARY)) return "needs dist/hermes-hooks";
  const probe = fs.mkdtempSync(path.join(os.tmpdir(), "rootfs-probe-"));
  const mounted = spawnSync("mount", ["-t", "proc", "proc", probe]).status === 0;
  if (mounted) spawnSync("umount", [probe]);
  fs.rmdirSync(probe);
  return mounted ? false : "nothing can be mounted here";
}

test("the image's root file system runs the main job, as a user that is not root", {
  skip: notHere(),
}, () => {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), "rootfs-"));
  const script = path.join(ROOT, "packaging", "rootfs");
  const { status, stdout, stderr } = spawnSync("sh", [script, folder, "--demo", BINARY], {
    encoding: "utf8",
  });
  assert.equal(status, 0, stderr);
  assert.match(stdout, /health: ready/);
  assert.match(stdout, /"decision": "block", "message": "not in here"/);
  assert.match(stdout, /"decision": "allow"/);
  assert.match(stdout, /stopped cleanly/);
  const { uid } = fs.statSync(path.join(folder, "home/hermes/.hermes/run"));
  assert.equal(uid, 65532);
  assert.equal(fs.readdirSync(path.join(folder, "proc")).length, 0);
  fs.rmSync(folder, { recursive: true });
});

test("the Kubernetes example is YAML, its config is one we read, and its parts fit together", () => {
  const documents = parseAllDocuments(read("kubernetes.yaml"));
  for (const document of documents) assert.deepEqual(document.errors, []);
  const [map, secret, deployment, service] = documents.map((document) => document.toJS());
  assert.deepEqual([map.kind, secret.kind, deployment.kind, service.kind], [
    "ConfigMap",
    "Secret",
    "Deployment",
    "Service",
  ]);
  const file = path.join(fs.mkdtempSync(path.join(os.tmpdir(), "k8s-")), "config.yaml");
  fs.writeFileSync(file, map.data["config.yaml"]);
  const check = spawnSync(process.execPath, [
    ...(process.versions.bun === undefined ? ["run", "-A"] : []),
    path.join(ROOT, "main.ts"),
    "config",
    "check",
    file,
  ], { encoding: "utf8" });
  assert.equal(check.status, 0, check.stdout + check.stderr);
  assert.deepEqual(JSON.parse(map.data["shell-hooks-allowlist.json"]), { approvals: [] });
  for (const name of ["HERMES_HOOKS_TOKEN", "HERMES_OUTBOUND_WEBHOOK_SECRET"]) {
    assert.ok(map.data["config.yaml"].includes(name), name);
    assert.ok(name in secret.stringData, name);
  }
  const { containers: [container], volumes } = deployment.spec.template.spec;
  const mounted = container.volumeMounts.map(({ name }: { name: string }) => name);
  const named = volumes.map(({ name }: { name: string }) => name);
  assert.ok(mounted.every((name: string) => named.includes(name)));
  fs.rmSync(path.dirname(file), { recursive: true });
});

test("every command line in packaging is one that we take", () => {
  const lines = [
    ...read("crontab.example").matchAll(/^[^#].*? hermes-hooks (.*)$/gm),
    ...read("hermes-hooks.service").matchAll(/^ExecStart=\S+hermes-hooks (.*)$/gm),
  ];
  assert.ok(lines.length >= 4);
  for (const [, words = ""] of lines) readArgs(words.trim().split(/\s+/));
  for (const line of read("Dockerfile").matchAll(/^(?:HEALTHCHECK.*)?CMD (\[.*\])$/gm)) {
    const words = JSON.parse(line[1]!).filter((word: string) => !word.startsWith("/"));
    readArgs(words);
  }
});
