#!/usr/bin/env node
// Runs black-box cases against the hermes-hooks program.
//
//   node run.mjs PROGRAM [FILE_OR_FOLDER ...] [--only ID] [--verbose]
//
// PROGRAM is a path, or a command line in quotes ("deno run -A main.ts").
// Without files it runs cases/*.json beside this script. Also runs under Deno and Bun.
// Each case gets a fresh home; `{home}` in any string is that folder. See README.md for the format.
// Prints one line a failure, then `N passed, N failed`; exits 1 when one failed.
import { spawn } from "node:child_process";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";

const here = path.dirname(fileURLToPath(import.meta.url));
const denoDir = process.env.DENO_DIR ?? path.join(os.homedir(), ".cache", "deno");
const sleep = (ms) => new Promise((r) => setTimeout(r, ms));

function readCases(files) {
  const cases = [];
  for (const file of files) {
    const list = fs.statSync(file).isDirectory()
      ? fs.readdirSync(file).filter((f) => f.endsWith(".json")).sort().map((f) => path.join(file, f))
      : [file];
    for (const f of list) for (const c of JSON.parse(fs.readFileSync(f, "utf8"))) cases.push({ ...c, file: path.basename(f) });
  }
  return cases;
}

/** Replaces `word` in every string of a JSON value. */
function fill(value, by, word = "{home}") {
  if (typeof value === "string") return value.replaceAll(word, by);
  if (Array.isArray(value)) return value.map((v) => fill(v, by, word));
  if (value && typeof value === "object") return Object.fromEntries(Object.entries(value).map(([k, v]) => [fill(k, by, word), fill(v, by, word)]));
  return value;
}

/** The paths under `home` that a name stands for; `*` is any one file or folder. */
function named(home, name) {
  return name.split("/").reduce((dirs, part) => dirs.flatMap((d) =>
    part !== "*" ? [path.join(d, part)] : fs.existsSync(d) ? fs.readdirSync(d).map((f) => path.join(d, f)) : []), [home]);
}

/** Quoted for sh. */
const quote = (w) => `'${w.replaceAll("'", "'\\''")}'`;

function layHome(c, home) {
  for (const [name, spec] of Object.entries(c.files ?? {})) {
    const file = path.join(home, name);
    fs.mkdirSync(path.dirname(file), { recursive: true });
    const { text, hex, repeat, mode, mtime, link } = typeof spec === "string" ? { text: spec } : spec;
    if (link) { fs.symlinkSync(link, file); continue; }
    fs.writeFileSync(file, hex !== undefined ? Buffer.from(hex, "hex") : (text ?? "").repeat(repeat ?? 1));
    if (mode) fs.chmodSync(file, parseInt(mode, 8));
    if (mtime !== undefined) fs.utimesSync(file, mtime, mtime);
  }
  for (const dir of c.folders ?? []) fs.mkdirSync(path.join(home, dir), { recursive: true });
  if (c.config !== undefined) fs.writeFileSync(path.join(home, "config.yaml"), c.config);
  if (c.approve) {
    const approvals = c.approve.map(([event, command]) => ({ event, command }));
    fs.writeFileSync(path.join(home, "shell-hooks-allowlist.json"), JSON.stringify({ approvals }));
  }
}

function run(program, c, home) {
  return new Promise((resolve) => {
    // `tty`: what is typed at a terminal that is stdin, stdout and stderr at once; script(1) makes one.
    const line = [...program, ...(c.args ?? [])];
    const [cmd, ...args] = c.tty === undefined ? line : ["script", "-qefc", line.map(quote).join(" "), "/dev/null"];
    // Deno keeps its cache under HOME: without this every fresh home would ask the registry again.
    const env = { PATH: process.env.PATH, HOME: home, HERMES_HOME: home, LANG: "C.UTF-8", DENO_DIR: denoDir, DENO_NO_UPDATE_CHECK: "1", ...c.env };
    for (const k of c.unset ?? []) delete env[k];
    const started = performance.now();
    const child = spawn(cmd, args, { cwd: path.join(home, c.cwd ?? ""), env, stdio: ["pipe", "pipe", "pipe"] });
    const out = [], err = [];
    let settled = false, ms;
    const done = (exit) => {
      if (settled) return;
      settled = true;
      clearTimeout(guard);
      child.stdout.destroy();
      child.stderr.destroy();
      resolve({ exit, stdout: Buffer.concat(out).toString(), stderr: Buffer.concat(err).toString(), ms: ms ?? performance.now() - started });
    };
    // A program that ends itself by the signal and one that exits 130 look the same to a shell: so too here.
    const status = (code, signal) => signal ? 128 + os.constants.signals[signal] : code;
    const guard = setTimeout(() => { child.kill("SIGKILL"); done("no answer in time"); }, (c.limit_s ?? 20) * 1000);
    child.stdout.on("data", (d) => out.push(d));
    child.stderr.on("data", (d) => err.push(d));
    child.stdin.on("error", () => {});
    child.on("error", (e) => done(`did not start: ${e.message}`));
    // A hook may leave a background child holding our pipes: settle at end-of-file or shortly after exit, whichever is first.
    child.on("exit", (code, signal) => { ms = performance.now() - started; setTimeout(() => done(status(code, signal)), 500); });
    child.on("close", (code, signal) => done(status(code, signal)));
    let stdin = c.tty ?? (c.stdin === undefined ? "" : typeof c.stdin === "string" ? c.stdin : JSON.stringify(c.stdin));
    if (c.stdin_pad) stdin = stdin.replace("{pad}", "x".repeat(c.stdin_pad));
    child.stdin.end(stdin);
    // `when` names a file of the home: the time counts from when it is there with something in it, so a slow start is no race.
    for (const { after_ms, signal, when } of c.signals ?? []) (async () => {
      const file = when && path.join(home, when);
      while (file && !settled && !(fs.existsSync(file) && fs.statSync(file).size)) await sleep(20);
      await sleep(after_ms);
      if (!settled) child.kill(signal);
    })();
  });
}

/** A JSON value as text, cut for a message. */
const show = (v) => { const t = JSON.stringify(v) ?? String(v); return t.length > 300 ? `${t.slice(0, 300)}… (${t.length} characters)` : t; };

/** Says where `actual` departs from `expected`; objects may hold more than asked. */
function differ(expected, actual, at) {
  if (expected && typeof expected === "object" && !Array.isArray(expected)) {
    if (("$re" in expected || "$has" in expected) && (actual === undefined || actual === null)) return [`${at}: is ${actual}, expected a value like ${JSON.stringify(expected)}`];
    if ("$re" in expected) return new RegExp(expected.$re, "su").test(String(actual)) ? [] : [`${at}: ${show(actual)} does not match /${expected.$re}/`];
    if ("$has" in expected) return [expected.$has].flat().every((s) => String(actual).includes(s)) ? [] : [`${at}: ${show(actual)} lacks ${JSON.stringify(expected.$has)}`];
    if ("$lacks" in expected) return [expected.$lacks].flat().some((s) => String(actual).includes(s)) ? [`${at}: ${show(actual)} has ${JSON.stringify(expected.$lacks)}`] : [];
    if ("$absent" in expected) return actual === undefined ? [] : [`${at}: should be absent, is ${show(actual)}`];
    if ("$max" in expected) return actual <= expected.$max ? [] : [`${at}: ${actual} is over ${expected.$max}`];
    if ("$some" in expected) return Array.isArray(actual) && actual.some((a) => differ(expected.$some, a, at).length === 0) ? [] : [`${at}: no item like ${JSON.stringify(expected.$some)} in ${show(actual)}`];
    if (!actual || typeof actual !== "object") return [`${at}: expected an object, got ${show(actual)}`];
    return Object.entries(expected).flatMap(([k, v]) => differ(v, actual[k], `${at}.${k}`));
  }
  if (Array.isArray(expected)) {
    if (!Array.isArray(actual) || actual.length !== expected.length) return [`${at}: expected ${JSON.stringify(expected)}, got ${show(actual)}`];
    return expected.flatMap((v, i) => differ(v, actual[i], `${at}[${i}]`));
  }
  return Object.is(expected, actual) ? [] : [`${at}: expected ${JSON.stringify(expected)}, got ${show(actual)}`];
}

/** Is it a living process (a zombie is not)? */
function alive(pid) {
  try { const s = fs.readFileSync(`/proc/${pid}/stat`, "utf8"); return s.slice(s.lastIndexOf(")") + 2)[0] !== "Z"; } catch { return false; }
}

/** Ends what a case left behind: every process whose environment names its home. */
function sweep(home) {
  for (const pid of fs.readdirSync("/proc")) {
    if (!/^\d+$/.test(pid) || Number(pid) === process.pid) continue;
    try { if (fs.readFileSync(`/proc/${pid}/environ`, "latin1").split("\0").some((v) => v === `HOME=${home}` || v === `HERMES_HOME=${home}`)) process.kill(Number(pid), "SIGKILL"); } catch { /* gone, or not ours */ }
  }
}

async function check(c, home, got) {
  const want = c.expect, faults = [];
  if (want.exit !== undefined && got.exit !== want.exit) faults.push(`exit ${got.exit}, expected ${want.exit}`);
  if (want.json) {
    try { faults.push(...differ(want.json, JSON.parse(got.stdout), "stdout")); }
    catch { faults.push(`stdout is not one JSON value: ${show(got.stdout)}`); }
  }
  for (const s of want.stdout_has ?? []) if (!got.stdout.includes(s)) faults.push(`stdout lacks ${JSON.stringify(s)}`);
  for (const s of want.stdout_lacks ?? []) if (got.stdout.includes(s)) faults.push(`stdout has ${JSON.stringify(s)}`);
  for (const s of want.stdout_re ?? []) if (!new RegExp(s, "su").test(got.stdout)) faults.push(`stdout does not match /${s}/`);
  for (const s of want.stderr_has ?? []) if (!got.stderr.includes(s)) faults.push(`stderr lacks ${JSON.stringify(s)}`);
  const all = got.stdout + got.stderr;
  for (const s of want.says ?? []) if (!new RegExp(s, "siu").test(all)) faults.push(`neither stdout nor stderr says /${s}/`);
  for (const s of want.never_says ?? []) if (new RegExp(s, "siu").test(all)) faults.push(`output says /${s}/`);
  if (want.max_ms && got.ms > want.max_ms) faults.push(`took ${Math.round(got.ms)} ms, over ${want.max_ms}`);
  for (const [pattern, f] of Object.entries(want.files ?? {})) for (const file of named(home, pattern).length ? named(home, pattern) : [path.join(home, pattern)]) {
    const name = path.relative(home, file);
    if (f === null) { if (fs.existsSync(file)) faults.push(`${name} should not exist`); continue; }
    const text = fs.existsSync(file) && fs.statSync(file).isFile() ? fs.readFileSync(file, "utf8") : undefined;
    if (text === undefined) { faults.push(`${name} does not exist`); continue; }
    if (f.equals !== undefined && text !== f.equals) faults.push(`${name} is ${show(text)}`);
    if (f.json !== undefined) { try { faults.push(...differ(f.json, JSON.parse(text), name)); } catch { faults.push(`${name} is not JSON: ${show(text)}`); } }
    for (const s of f.has ?? []) if (!text.includes(s)) faults.push(`${name} lacks ${JSON.stringify(s)}: ${show(text)}`);
    for (const s of f.lacks ?? []) if (text.includes(s)) faults.push(`${name} has ${JSON.stringify(s)}`);
    if (f.mode !== undefined && (fs.statSync(file).mode & 0o777).toString(8) !== f.mode) faults.push(`${name} has mode ${(fs.statSync(file).mode & 0o777).toString(8)}`);
    // A file of process ids: are they gone (within a second, the kernel needs a moment), or alive? Never 0 or 1: kill(0) is our own group.
    if (f.pids) {
      const pids = (text.match(/\d+/g) ?? []).filter((p) => Number(p) > 1);
      if (pids.length === 0) faults.push(`${name} holds no process id: ${show(text)}`);
      for (let i = 0; f.pids === "gone" && i < 20 && pids.some(alive); i++) await sleep(50);
      for (const pid of pids) {
        if ((f.pids === "alive") !== alive(pid)) faults.push(`process ${pid} of ${name} is ${alive(pid) ? "alive" : "gone"}`);
        if (alive(pid)) try { process.kill(Number(pid), "SIGKILL"); } catch { /* gone */ }
      }
    }
  }
  return faults;
}

const argv = process.argv.slice(2);
const verbose = argv.includes("--verbose");
const only = argv.includes("--only") ? argv[argv.indexOf("--only") + 1] : undefined;
const words = argv.filter((a, i) => !a.startsWith("--") && argv[i - 1] !== "--only");
if (words.length === 0) { console.error("usage: run.mjs PROGRAM [FILE_OR_FOLDER ...] [--only ID] [--verbose]"); process.exit(64); }
const program = words[0].split(" ").map((w, i) => (i === 0 ? (w.includes("/") ? path.resolve(w) : w) : fs.existsSync(w) && fs.statSync(w).isFile() ? path.resolve(w) : w));
const cases = readCases(words.length > 1 ? words.slice(1) : [path.join(here, "cases")]).filter((c) => !only || c.id === only);
if (cases.length === 0) { console.error(only ? `no case "${only}"` : "no cases"); process.exit(64); }

process.umask(0o022); // what a case lays must not be writable by others
let passed = 0, failed = 0;
for (const raw of cases) {
  const home = fs.realpathSync(fs.mkdtempSync(path.join(os.tmpdir(), "hooks-case-")));
  const c = fill(raw, home);
  layHome(c, home);
  // `steps` runs several commands in one home, each with its own expectation.
  const steps = c.steps ? c.steps.map((s) => ({ ...c, steps: undefined, ...s })) : [c];
  const faults = [];
  for (const [i, step] of steps.entries()) {
    // `at_once` runs the same step several times side by side; `{n}` tells them apart.
    const all = await Promise.all(Array.from({ length: step.at_once ?? 1 }, (_, n) => run(program, step.at_once ? fill(step, String(n), "{n}") : step, home)));
    if (step.settle_ms) await sleep(step.settle_ms);
    for (const got of all) {
      const f = await check(step, home, got);
      faults.push(...f.map((x) => (steps.length > 1 ? `step ${i + 1}: ${x}` : x)));
      if (f.length && verbose) console.log(`--- ${c.id} stdout:\n${got.stdout}\n--- stderr:\n${got.stderr}`);
    }
  }
  if (faults.length) { failed++; console.log(`FAIL ${c.id} (rule ${c.rule})${c.about ? ` ${c.about}` : ""}\n     ${faults.join("\n     ")}`); } else passed++;
  sweep(home);
  try { fs.rmSync(home, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 }); } catch (e) { console.error(`left behind: ${home} (${e.code})`); }
}
console.log(`${passed} passed, ${failed} failed`);
process.exit(failed ? 1 : 0);
