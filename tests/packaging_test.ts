/** What is in packaging/: it names things as they are, and the image's root file system works. */
import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import fs from "node:fs";
import http from "node:http";
import os from "node:os";
import path from "node:path";
import process from "node:process";
import test from "node:test";
import { parseAllDocuments } from "yaml";
import { readArgs } from "../lib/cli/args.ts";

const ROOT = path.join(import.meta.dirname!, "..");
const read = (name: string) => fs.readFileSync(path.join(ROOT, "packaging", name), "utf8");
/** What comes before `main.ts`. */
const RUNTIME = process.versions.bun === undefined ? ["run", "-A"] : [];
const BINARY = path.join(ROOT, "dist", "hermes-hooks");

const has = (program: string) => spawnSync(program, ["--help"]).error === undefined;

/** Why the root file system cannot be built and entered here. */
function notHere(): string | false {
  if (process.platform !== "linux") return "not on Linux";
  if (process.getuid?.() !== 0) return "needs root";
  if (!fs.existsSync(BINARY)) return "needs dist/hermes-hooks";
  const probe = spawnSync("unshare", [
    "--mount",
    "--pid",
    "--fork",
    "mount",
    "-t",
    "tmpfs",
    "t",
    "/mnt",
  ]);
  return probe.status === 0 ? false : "no namespaces and mounts here";
}

/** Builds the root file system and runs the demo in it. */
function demo(...options: readonly string[]): string {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), "rootfs-"));
  const script = path.join(ROOT, "packaging", "rootfs");
  const { status, stdout, stderr } = spawnSync("sh", [
    script,
    folder,
    ...options,
    "--demo",
    BINARY,
  ], { encoding: "utf8" });
  assert.equal(status, 0, stderr);
  const { uid, mode } = fs.statSync(
    path.join(folder, "home/hermes/.hermes/shell-hooks-allowlist.json"),
  );
  assert.deepEqual([uid, mode & 0o777], [65532, 0o600]);
  assert.deepEqual(fs.readdirSync(path.join(folder, "proc")), []);
  fs.rmSync(folder, { recursive: true });
  return stdout;
}

test("the image's root file system runs the main job, as process 1 and a user that is not root", {
  skip: notHere(),
}, () => {
  const said = demo();
  assert.match(said, /health: ready: .*, pid 1, /);
  assert.match(said, /"decision": "block", "message": "not in here"/);
  assert.match(said, /"decision": "allow"/);
  assert.match(said, /failed closed: bad interpreter: \\"\/bin\/sh\\" does not exist/);
  assert.match(said, /stopped cleanly\n$/);
});

test("with a shell in it hooks that are scripts run there too", {
  skip: notHere() || !has("busybox") && "no busybox here",
}, () => {
  assert.match(demo("--shell"), /"decision": "block", "message": "no sudo in here"/);
});

test("the image takes a released file only with the checksum that it should have", () => {
  const [, run = ""] = /^RUN (.*?[^\\])$/ms.exec(read("Dockerfile")) ?? [];
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), "dockerfile-"));
  const build = (content: string) => {
    fs.mkdirSync(path.join(folder, "release"), { recursive: true });
    fs.writeFileSync(path.join(folder, "release/hermes-hooks-linux-x64"), content);
    const sum = createHash("sha256").update("released").digest("hex");
    fs.writeFileSync(
      path.join(folder, "release/SHA256SUMS"),
      `${"0".repeat(64)}  hermes-hooks-linux-x64-musl\n${sum}  hermes-hooks-linux-x64\n`,
    );
    const script = run.replaceAll(/(?<= )\/(?=release|home)/g, `${folder}/`);
    return spawnSync("sh", ["-c", script], {
      env: { ...process.env, FILE: "hermes-hooks-linux-x64" },
    });
  };
  assert.notEqual(build("another").status, 0);
  assert.ok(!fs.existsSync(path.join(folder, "release/hermes-hooks")));
  assert.equal(build("released").status, 0);
  assert.equal(fs.statSync(path.join(folder, "release/hermes-hooks")).mode & 0o777, 0o755);
  assert.equal(fs.statSync(path.join(folder, "home/hermes/.hermes")).mode & 0o777, 0o700);
  fs.rmSync(folder, { recursive: true });
});

test("both images of the Dockerfile start the same program in the same way", () => {
  const [, slim = "", minimal = ""] = read("Dockerfile").split(
    /^(?:FROM .* AS slim|FROM minimal)$/m,
  );
  const set = (stage: string) => stage.match(/^(ENV|USER|VOLUME|HEALTHCHECK|ENTRYPOINT|CMD) .*$/gm);
  assert.equal(set(minimal)?.length, 6);
  assert.deepEqual(set(slim), set(minimal));
});

test("systemd takes the unit without a complaint", {
  skip: !has("systemd-analyze") && "no systemd-analyze here",
}, () => {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), "unit-"));
  const unit = path.join(folder, "hermes-hooks.service");
  // It wants the program to be there.
  fs.writeFileSync(
    unit,
    read("hermes-hooks.service").replace("/usr/local/bin/hermes-hooks", "/bin/sh"),
  );
  const { status, stdout, stderr } = spawnSync("systemd-analyze", ["verify", unit], {
    encoding: "utf8",
  });
  assert.deepEqual([status, stdout, stderr], [0, "", ""]);
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
    ...RUNTIME,
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

/** The status of a GET over TCP, with what the kubelet sends as `Host`. */
function get(port: number, route: string, host: string, token?: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const headers = { host, ...(token ? { authorization: `Bearer ${token}` } : {}) };
    http.get({ hostname: "127.0.0.1", port, path: route, headers, agent: false }, (answer) => {
      answer.resume();
      resolve(answer.statusCode!);
    }).on("error", reject);
  });
}

test("the Kubernetes example's seed makes a home that works, and its probes get through", {
  skip: process.platform === "win32" && "needs a POSIX shell",
}, async () => {
  const [map, secret, deployment] = parseAllDocuments(read("kubernetes.yaml")).map((each) =>
    each.toJS()
  );
  const folder = fs.realpathSync(fs.mkdtempSync(path.join(os.tmpdir(), "k8s-")));
  const home = path.join(folder, "data/home");
  fs.mkdirSync(path.join(folder, "seed"));
  fs.mkdirSync(path.join(folder, "data"));
  for (const [name, content] of Object.entries(map.data)) {
    fs.writeFileSync(path.join(folder, "seed", name), content as string);
  }
  const { initContainers: [seed], containers: [container] } = deployment.spec.template.spec;
  const script = seed.args[0].replaceAll(/\/(?=data|seed)/g, `${folder}/`);
  const run = () => spawnSync("sh", ["-euc", script], { encoding: "utf8" });
  assert.equal(run().stderr, "");
  const allowlist = path.join(home, "shell-hooks-allowlist.json");
  assert.deepEqual(
    [home, allowlist, path.join(home, "config.yaml")].map((file) => fs.statSync(file).mode & 0o777),
    [0o700, 0o600, 0o600],
  );
  // Approvals given since are kept when the pod's container starts again.
  fs.writeFileSync(allowlist, '{"approvals": [], "kept": true}');
  assert.equal(run().status, 0);
  assert.match(fs.readFileSync(allowlist, "utf8"), /kept/);

  const command = [process.execPath, ...RUNTIME, path.join(ROOT, "main.ts"), "serve"];
  const env = { ...process.env, ...secret.stringData, HERMES_HOME: home };
  const child = spawn(command[0]!, [...command.slice(1), "--listen", "127.0.0.1:0"], {
    env,
    stdio: ["ignore", "ignore", "pipe"],
  });
  try {
    const port = await new Promise<number>((resolve, reject) => {
      let log = "";
      child.stderr.on("data", (text) => {
        log += text;
        const [, found] = /127\.0\.0\.1:([1-9][0-9]*)/.exec(log) ?? [];
        if (found) resolve(Number(found));
      }).once("end", () => reject(new Error(log)));
    });
    const { path: route, httpHeaders: [{ name, value }] } = container.livenessProbe.httpGet;
    assert.equal(name, "Host");
    assert.equal(await get(port, route, value), 200);
    assert.equal(await get(port, route, "10.0.0.7:8645"), 403, "the header would not be needed");
    const client = `${deployment.metadata.name}:8645`;
    assert.equal(await get(port, "/v1/hooks", client), 401);
    assert.equal(await get(port, "/v1/hooks", client, secret.stringData.HERMES_HOOKS_TOKEN), 200);
    const words = container.readinessProbe.exec.command.slice(1);
    const probe = spawnSync(command[0]!, [...command.slice(1, -1), ...words], { env });
    assert.equal(probe.status, 0);
  } finally {
    const gone = new Promise((resolve) => child.once("exit", resolve));
    child.kill("SIGTERM");
    await gone;
  }
  fs.rmSync(folder, { recursive: true });
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
