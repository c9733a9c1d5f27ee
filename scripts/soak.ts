/**
 * A listener under mixed load for a long time: hooks that succeed and fail in every way, targets
 * that flap, clients that hang up, reloads, consent given and taken back. Looks for growth in
 * memory, descriptors and children, for processes left behind, for verdicts that are not what the
 * hook said, and for deliveries lost or made twice. One summary; exit 1 at a violation.
 *
 *   scripts/soak [SECONDS]
 *
 * The load lasts SECONDS (default 600), in two halves with a rest after each: at rest nothing is
 * under way, so that what is still open was left behind. Loopback only.
 */
import { spawn } from "node:child_process";
import { createHash, createHmac } from "node:crypto";
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import http from "node:http";
import net from "node:net";
import os from "node:os";
import path from "node:path";
import process from "node:process";

const SECONDS = Number(process.argv[2] ?? 600);
const CLIENTS = 8;
const FIRE_LOOPS = 2;
/** Mean pause of a client between two events, in ms: busy, but the machine is not the bottleneck. */
const PAUSE_MS = 20;

/**
 * Growth between the second and the last quarter that is still called flat, of medians; the same
 * between the two rests. Resident memory swings by a quarter between two samples (a hook that writes
 * 5 MB is 15 MiB for a moment), its median over a quarter by some 12 MiB. A leak of 1 KB an event
 * comes to 28 MiB from one quarter to the other in 600 s.
 */
const RSS_GROWTH = { share: 0.15, mib: 20 };
/**
 * Shorter runs are warm-up all through, and their memory is shown and not judged: histories (500
 * attempts, 1,000 bodies up to 16 MiB, 20,000 results), the queues of dead targets and the heap's
 * own headroom fill up first.
 */
const MEMORY_JUDGED_FROM_S = 300;
/** Under load as many hooks, connections and attempts are open as happen to be: a median moves. */
const FDS_LOADED_GROWTH = 10;
/** At rest only targets that never answer hold descriptors: as many as they may have attempts. */
const FDS_REST_GROWTH = 3;
/** Rule 3.7 allows 1.5 s over the time limit of 1 s; the rest is for a machine that is busy. */
const TIMED_OUT_MS = 2_500 + 1_000;
/** What hooks leave behind on purpose, and what must be gone with its group, in s of sleep. */
const LEFT = "23", KILLED = "31";

const binaryGiven = path.join(path.dirname(import.meta.dirname!), "dist", "hermes-hooks");
const folder = realpathSync(mkdtempSync(path.join(os.tmpdir(), "hermes-soak-")));
const home = path.join(folder, "home");
const logFile = path.join(folder, "serve.log");
/** A copy: a build in the meantime must not change what is measured. */
const binary = path.join(folder, "hermes-hooks");
const SECRET = "soak-secret";
const env = {
  PATH: process.env["PATH"] ?? "",
  HOME: folder,
  LANG: "C.UTF-8",
  // Every process of this run carries it: that is how those left behind are found.
  HERMES_SOAK: folder,
  NO_PROXY: "*",
  no_proxy: "*",
};

const sleep = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));
const pick = <T>(list: readonly T[]): T => list[Math.floor(Math.random() * list.length)]!;
const median = (list: readonly number[]) =>
  list.toSorted((a, b) => a - b)[Math.floor(list.length / 2)] ?? NaN;

const violations = new Map<string, { count: number; example: string }>();

/** Notes what must not be; the same kind again is counted. */
function violation(kind: string, example: string): void {
  const known = violations.get(kind);
  if (known) known.count++;
  else violations.set(kind, { count: 1, example: example.slice(0, 600) });
}

// --- the hooks, and what is to be answered -------------------------------------------------------

interface Expected {
  readonly decision?: string;
  /** Of each hook that ran. */
  readonly outcomes: readonly string[];
  /** Must stand in the verdict, written without blanks; MARK is this event's own mark. */
  readonly says?: string;
  /** Of the hook, in ms. */
  readonly atMost?: number;
}

interface Case extends Expected {
  readonly event: string;
  /** On tool events: which hook is meant. */
  readonly tool?: string;
  /** Characters of arguments. */
  readonly filler?: number;
  /** How often, against the others; default 4. */
  readonly weight?: number;
}

interface HookScript {
  readonly event: string;
  readonly matcher?: string;
  readonly body: string;
  /** More lines of its entry. */
  readonly entry?: string;
}

const READ = `mark=$(sed -n 's/.*"mark": "\\([^"]*\\)".*/\\1/p')`;
const tool = (body: string, entry?: string, matcher?: string): HookScript => ({
  event: "pre_tool_call",
  body,
  entry,
  matcher,
});

const SCRIPTS: Readonly<Record<string, HookScript>> = {
  succeeds: tool("cat >/dev/null; echo '{}'"),
  silent: tool("cat >/dev/null"),
  modifies: tool(
    `${READ}; echo '{"action":"modify","args":{"seen":"'$mark'"}}'`,
    undefined,
    "modifies|both",
  ),
  blocks: tool(
    `${READ}; echo '{"action":"block","message":"no '$mark'"}'`,
    undefined,
    "blocks|both",
  ),
  asks: tool(`${READ}; echo '{"action":"approve","message":"may '$mark'?"}'`),
  refuses: tool(`${READ}; echo "denied $mark" >&2; exit 2`),
  crashes: tool(`${READ}; echo "boom $mark" >&2; exit 7`),
  crashes_closed: tool(`${READ}; echo "boom $mark" >&2; exit 7`, "fail_closed: true"),
  dies: tool("ulimit -c 0; kill -SEGV $$; sleep 5"),
  struck: tool('sh -c "kill -KILL $$; :"; sleep 5'),
  razes: tool(`sleep ${KILLED} & kill -KILL 0; sleep 5`),
  stalls: tool(`sleep ${KILLED} & sleep ${KILLED}`, "timeout: 1"),
  stubborn: tool(
    `trap '' TERM; while :; do sleep ${KILLED}; done`,
    "timeout: 1\n      fail_closed: true",
  ),
  babbles: tool("cat >/dev/null; head -c 3000 /dev/urandom; echo }"),
  babbles_closed: tool("cat >/dev/null; head -c 3000 /dev/urandom; echo }", "fail_closed: true"),
  floods: tool("cat >/dev/null; head -c 5000000 /dev/zero | tr '\\0' x"),
  floods_stderr: tool("cat >/dev/null; head -c 5000000 /dev/zero | tr '\\0' x >&2; echo '{}'"),
  leaves: tool(`cat >/dev/null; sleep ${LEFT} & echo '{}'`),
  deaf: tool("echo '{}'"),
  shuts: tool("exec <&-; sleep 0.05; echo '{}'"),
  late: tool("head -c 200000 /dev/zero | tr '\\0' ' '; cat >/dev/null; echo '{}'"),
  slow: tool("cat >/dev/null; sleep 1; echo '{}'"),
  toggled: tool(`${READ}; echo '{"action":"block","message":"no '$mark'"}'`),
  context: {
    event: "pre_llm_call",
    body: `${READ}; echo '{"context":"note '$mark'"}'`,
  },
  long_context: {
    event: "pre_llm_call",
    body:
      "cat >/dev/null; printf '{\"context\":\"'; head -c 12000 /dev/zero | tr '\\0' y; echo '\"}'",
  },
  cleans: {
    event: "transform_tool_result",
    body: `${READ}; echo '{"result":"clean '$mark'"}'`,
  },
  nudges: {
    event: "pre_verify",
    body: `${READ}; echo '{"decision":"block","reason":"again '$mark'"}'`,
  },
  watches: { event: "post_tool_call", body: "cat >/dev/null; exit 3" },
};

function toolCase(tool: string, decision: string, outcome: string, more: Partial<Case> = {}): Case {
  return { event: "pre_tool_call", tool, decision, outcomes: [outcome], ...more };
}

const CASES: readonly Case[] = [
  toolCase("succeeds", "allow", "none", { weight: 10 }),
  toolCase("silent", "allow", "none"),
  toolCase("modifies", "allow", "directive", { says: '"seen":"MARK"' }),
  toolCase("blocks", "block", "directive", { says: '"message":"no MARK"', weight: 10 }),
  {
    ...toolCase("both", "block", "directive", { says: '"message":"no MARK"' }),
    outcomes: ["directive", "directive"],
  },
  toolCase("asks", "approve", "directive", { says: '"message":"may MARK?"' }),
  toolCase("refuses", "block", "directive", { says: '"message":"denied MARK"' }),
  toolCase("crashes", "allow", "failed", { says: '"error":"exit code 7: boom MARK"' }),
  toolCase("crashes_closed", "block", "failed", { says: "failed closed: exit code 7: boom MARK" }),
  toolCase("dies", "allow", "failed", { says: '"error":"killed by SIGSEGV"' }),
  toolCase("struck", "allow", "failed", { says: '"error":"killed by SIGKILL"' }),
  toolCase("razes", "allow", "failed", { says: '"error":"killed by SIGKILL"' }),
  toolCase("stalls", "allow", "failed", { says: "timed out after 1s", atMost: TIMED_OUT_MS }),
  toolCase("stubborn", "block", "failed", {
    says: "failed closed: timed out after 1s",
    atMost: TIMED_OUT_MS,
    weight: 2,
  }),
  toolCase("babbles", "allow", "failed", { says: "stdout is not JSON" }),
  toolCase("babbles_closed", "block", "failed", { says: "failed closed: stdout is not JSON" }),
  toolCase("floods", "allow", "failed", { says: "stdout is over 4 MiB", weight: 1 }),
  toolCase("floods_stderr", "allow", "none", { weight: 1 }),
  toolCase("leaves", "allow", "none", { weight: 2 }),
  toolCase("deaf", "allow", "none", { filler: 300_000, weight: 2 }),
  toolCase("shuts", "allow", "none", { filler: 300_000, weight: 1 }),
  toolCase("late", "allow", "none", { filler: 300_000, weight: 1 }),
  toolCase("missing", "block", "failed", { says: "failed closed: command not found" }),
  { event: "pre_llm_call", outcomes: ["directive", "directive"], says: "note MARK", weight: 1 },
  { event: "transform_tool_result", outcomes: ["directive"], says: '"result":"clean MARK"' },
  { event: "pre_verify", decision: "continue", outcomes: ["directive"], says: "again MARK" },
  { event: "post_tool_call", tool: "x", outcomes: ["failed"], says: "exit code 3", weight: 12 },
  { event: "on_session_start", outcomes: [], weight: 6 },
  { event: "on_session_end", outcomes: [], weight: 12 },
  { event: "subagent_stop", outcomes: [], weight: 12 },
];
const DECK = CASES.flatMap((each) => Array<Case>(each.weight ?? 4).fill(each));
const TOGGLED: Case = toolCase("toggled", "block", "directive", { says: '"message":"no MARK"' });
const TOGGLED_OFF: Case = {
  ...TOGGLED,
  decision: "allow",
  outcomes: [],
  says: "is not approved and did not run",
};
const SLOW = toolCase("slow", "allow", "none");

/** Marks begin with who sent them: `c3x17` is the 17th of client 3. */
let marks = 0;
const fired = new Set<string>();

function fieldsOf({ event, tool, filler = 0 }: Case, mark: string): string {
  const args = { command: "ls -la", ...(filler > 0 ? { filler: "f".repeat(filler) } : {}) };
  const call = tool === undefined ? {} : { tool_name: tool, args };
  return JSON.stringify({ ...call, session_id: `s-${mark.split("x")[0]}`, mark, note: event });
}

interface Verdict {
  readonly event?: unknown;
  readonly decision?: unknown;
  readonly hooks?: readonly { outcome?: unknown; duration_ms?: unknown }[];
}

/** What is wrong with an answer; undefined: nothing. */
function faultOf(expected: Case, mark: string, text: string): string | undefined {
  let verdict: Verdict;
  try {
    verdict = JSON.parse(text);
  } catch {
    return "no JSON";
  }
  const { event, decision, hooks = [] } = verdict;
  if (event !== expected.event) return `event ${event}`;
  if (decision !== expected.decision) return `decision ${decision}`;
  const outcomes = hooks.map(({ outcome }) => outcome).join();
  if (outcomes !== expected.outcomes.join()) return `outcomes ${outcomes || "none"}`;
  const says = expected.says?.replace("MARK", mark);
  if (says !== undefined && !JSON.stringify(verdict).includes(says)) return `does not say ${says}`;
  if ([...text.matchAll(/\bc\d+x\d+\b/g)].some(([found]) => found !== mark)) {
    return "another's mark";
  }
  const slowest = Math.max(0, ...hooks.map(({ duration_ms }) => Number(duration_ms)));
  if (slowest > (expected.atMost ?? 30_000)) return `took ${slowest} ms`;
  return undefined;
}

// --- the targets --------------------------------------------------------------------------------

type Behaviour =
  | "ok"
  | "slow"
  | "no content"
  | "cut body"
  | "endless"
  | "error"
  | "hang"
  | "reset"
  | "half a head"
  | "no http"
  | "redirect"
  | "reject";

const ACCEPTING: readonly Behaviour[] = ["ok", "slow", "no content", "cut body", "endless"];
const FINAL: readonly Behaviour[] = [...ACCEPTING, "redirect", "reject"];
const FLAPPING: readonly Behaviour[] = [
  ...Array<Behaviour>(24).fill("ok"),
  "slow",
  "slow",
  "no content",
  "cut body",
  "endless",
  "error",
  "error",
  "hang",
  "reset",
  "half a head",
  "no http",
  "redirect",
  "reject",
];

interface Receipt {
  readonly mark: string;
  attempts: number;
  accepted: boolean;
  /** No further attempt may come. */
  final: boolean;
}

/** One scripted receiver; everything it is sent is checked. */
class Receiver {
  readonly receipts = new Map<string, Receipt>();
  readonly #ids = new Map<string, string>();
  readonly #last = new Map<string, number>();
  readonly #sockets = new Set<net.Socket>();
  #server: net.Server | undefined;
  port = 0;
  attempts = 0;

  constructor(
    readonly name: string,
    readonly behave: () => Behaviour,
    /** The rest of its config entry. */
    readonly entry: string,
    readonly traits: {
      /** Must get everything its entry asks for. */
      readonly complete?: boolean;
      /** One at a time: what a client sent must come in that order. */
      readonly ordered?: boolean;
      /** Closes each connection after an answer that promised otherwise. */
      readonly unkept?: boolean;
    } = {},
  ) {}

  get accepted(): number {
    return [...this.receipts.values()].filter(({ accepted }) => accepted).length;
  }

  open(): Promise<void> {
    return new Promise((resolve, reject) => {
      const server = net.createServer((socket) => this.#connected(socket));
      this.#server = server;
      server.once("error", reject);
      server.listen(this.port, "127.0.0.1", () => {
        this.port = (server.address() as net.AddressInfo).port;
        resolve();
      });
    });
  }

  close(): Promise<void> {
    return new Promise((resolve) => {
      if (!this.#server) return resolve();
      this.#server.close(() => resolve());
      for (const socket of this.#sockets) socket.destroy();
      this.#server = undefined;
    });
  }

  #connected(socket: net.Socket): void {
    this.#sockets.add(socket);
    let held = Buffer.alloc(0);
    socket.on("error", () => {});
    socket.on("close", () => this.#sockets.delete(socket));
    socket.on("data", (chunk) => {
      held = Buffer.concat([held, chunk as Buffer]);
      const end = held.indexOf("\r\n\r\n");
      if (end < 0) return;
      const head = held.toString("latin1", 0, end);
      const length = Number(/^content-length: (\d+)$/im.exec(head)?.[1]);
      if (held.length < end + 4 + length) return;
      const body = held.subarray(end + 4, end + 4 + length);
      if (held.length > end + 4 + length) violation("bytes after a request", this.name);
      held = Buffer.alloc(0);
      void this.#answer(socket, this.#received(head, body));
    });
  }

  #received(head: string, body: Buffer): Receipt {
    this.attempts++;
    const at = (name: string) => new RegExp(`^${name}: (.*)$`, "im").exec(head)?.[1]?.trim();
    const wire = JSON.parse(body.toString()) as {
      delivery_id: string;
      attempt: number;
      extra: { mark: string };
    };
    const { delivery_id: id, attempt, extra: { mark } } = wire;
    const say = (kind: string, more = "") =>
      violation(`delivery: ${kind}`, `${this.name} ${id} of ${mark} ${more}`);
    const signature = createHmac("sha256", SECRET).update(body).digest("hex");
    if (at("X-Hermes-Signature-256") !== `sha256=${signature}`) say("wrong signature");
    if (at("X-Hermes-Delivery") !== id) say("header and body differ in the id");
    if (!fired.has(mark)) say("of an event nobody fired");
    let receipt = this.receipts.get(id);
    if (!receipt) {
      receipt = { mark, attempts: 0, accepted: false, final: false };
      this.receipts.set(id, receipt);
      if (this.#ids.has(mark)) say("two ids for one event", this.#ids.get(mark));
      this.#ids.set(mark, id);
      this.#checkOrder(mark, say);
    }
    if (receipt.accepted) say("sent again after it was accepted");
    else if (receipt.final) say("sent again after a final answer");
    if (attempt > 2) say("more than one retry", String(attempt));
    // An attempt whose connection failed never came here.
    if (attempt <= receipt.attempts) say("attempt counted wrong", String(attempt));
    receipt.attempts = attempt;
    return receipt;
  }

  /** Not of commands: their deliveries may go through the listener or a sender of their own. */
  #checkOrder(mark: string, say: (kind: string, more: string) => void): void {
    const [, client, count] = /^(c[0-9]+)x([0-9]+)$/.exec(mark) ?? [];
    if (!this.traits.ordered || client === undefined || Number(client.slice(1)) >= CLIENTS) return;
    const last = this.#last.get(client) ?? 0;
    if (Number(count) < last) say("out of order", `after ${client}x${last}`);
    this.#last.set(client, Number(count));
  }

  async #answer(socket: net.Socket, receipt: Receipt): Promise<void> {
    const behaviour = this.behave();
    if (behaviour === "slow") await sleep(300);
    // Whoever is gone was not answered.
    if (socket.destroyed || !socket.writable) return;
    receipt.accepted ||= ACCEPTING.includes(behaviour);
    receipt.final ||= FINAL.includes(behaviour);
    const plain = (status: string, more = "") =>
      socket.write(`HTTP/1.1 ${status}\r\nContent-Length: 2\r\n${more}\r\nok`);
    if (behaviour === "ok" || behaviour === "slow") plain("200 OK");
    else if (behaviour === "no content") socket.write("HTTP/1.1 204 No Content\r\n\r\n");
    else if (behaviour === "cut body") {
      socket.end("HTTP/1.1 200 OK\r\nContent-Length: 900\r\n\r\nno more");
    } else if (behaviour === "endless") {
      socket.write("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n");
      for (let n = 0; n < 100 && !socket.destroyed; n++) {
        socket.write(`1000\r\n${"e".repeat(4096)}\r\n`);
        await sleep(20);
      }
      socket.destroy();
    } else if (behaviour === "error") plain(pick(["500 Oh", "503 Busy"]));
    else if (behaviour === "reset") socket.resetAndDestroy();
    else if (behaviour === "half a head") socket.end("HTTP/1.1 2");
    else if (behaviour === "no http") socket.end("SSH-2.0-what\r\n\r\n");
    else if (behaviour === "redirect") plain("302 Found", "Location: http://127.0.0.1:9/\r\n");
    else if (behaviour === "reject") plain("404 Not Found");
    if (this.traits.unkept) setTimeout(() => socket.destroy(), 5);
  }
}

const TOLD = ["post_tool_call", "on_session_end", "subagent_stop"];
const TOLD_TOOLS = ["blocks", "crashes", "deaf", "x"];
const everything = (more: string) =>
  `events: [pre_tool_call, ${TOLD.join(", ")}]\n      matcher: "${
    TOLD_TOOLS.join("|")
  }"\n      ${more}`;
const sessions = (more: string) => `events: [on_session_end]\n      ${more}`;

const flapping = () => pick(FLAPPING);
const steady = new Receiver(
  "steady",
  () => "ok",
  everything("concurrency: 4\n      max_queue: 20000"),
  {
    complete: true,
  },
);
const blinking = new Receiver("blinks", flapping, everything("timeout: 2\n      concurrency: 2"));
const closed = new Receiver("closed", () => "ok", everything("concurrency: 2"));
const guest = new Receiver("guest", () => "slow", sessions("concurrency: 2"));
const RECEIVERS = [
  steady,
  new Receiver("in line", () => "ok", sessions("max_queue: 20000"), {
    complete: true,
    ordered: true,
  }),
  new Receiver("flaps in line", flapping, sessions("timeout: 2"), { ordered: true }),
  new Receiver(
    "flaps",
    flapping,
    everything("timeout: 2\n      concurrency: 8\n      max_queue: 500"),
  ),
  new Receiver("unkept", () => "ok", everything("concurrency: 4\n      max_queue: 20000"), {
    complete: true,
    unkept: true,
  }),
  new Receiver("hangs", () => "hang", everything("timeout: 1")),
  blinking,
  closed,
  guest,
];
/** At rest these may still have something to do. */
const HOPELESS = ["hangs", "closed", "blinks"];

function toldTo({ event, tool }: Case): boolean {
  if (event === "pre_tool_call") return TOLD_TOOLS.includes(tool ?? "");
  return TOLD.includes(event);
}

// --- the home -----------------------------------------------------------------------------------

type Variant = "with guest" | "without guest" | "broken";

function configText(variant: Variant): string {
  if (variant === "broken") return "hooks: [\n";
  const events = Map.groupBy(Object.entries(SCRIPTS), ([, { event }]) => event);
  const lines = ["hooks:"];
  for (const [event, scripts] of events) {
    lines.push(`  ${event}:`);
    for (const [name, { matcher = name, entry }] of scripts) {
      lines.push(`    - command: ${commandOf(name)}`);
      if (event === "pre_tool_call") lines.push(`      matcher: "${matcher}"`);
      if (entry) lines.push(`      ${entry}`);
    }
    if (event !== "pre_tool_call") continue;
    lines.push(
      `    - command: ${commandOf("missing")}\n      matcher: missing\n      fail_closed: true`,
    );
  }
  lines.push("  outbound:");
  for (const { name, port, entry } of RECEIVERS) {
    if (name === "guest" && variant === "without guest") continue;
    const url = `http://127.0.0.1:${port}/${variant.replace(" ", "-")}`;
    // The path changes nothing but for the guest: a target is known by name and URL.
    const kept = name === "guest" ? url : `http://127.0.0.1:${port}/`;
    // An option that differs makes the same target open its connections anew.
    const pace = variant === "with guest" ? "\n      rate_limit_per_second: 900" : "";
    lines.push(
      `    - name: ${name}\n      url: ${kept}\n      secret: ${SECRET}\n      ${entry}${pace}`,
    );
  }
  lines.push("hermes_hooks:\n  serve:\n    body_timeout: 2\n");
  return lines.join("\n");
}

const commandOf = (name: string) => path.join(home, "hooks-of-soak", `${name}.sh`);
const configFile = path.join(home, "config.yaml");

function writeConfig(variant: Variant): void {
  writeFileSync(`${configFile}.new`, configText(variant));
  renameSync(`${configFile}.new`, configFile);
}

function makeHome(): void {
  copyFileSync(binaryGiven, binary);
  chmodSync(binary, 0o755);
  mkdirSync(path.dirname(commandOf("x")), { recursive: true, mode: 0o700 });
  for (const [name, { body }] of Object.entries(SCRIPTS)) {
    writeFileSync(commandOf(name), `#!/bin/sh\n${body}\n`);
    chmodSync(commandOf(name), 0o755);
  }
  writeConfig("with guest");
}

interface Ended {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
}

/** Runs one command to its end. */
function command(words: readonly string[], stdin = ""): Promise<Ended> {
  return new Promise((resolve, reject) => {
    const child = spawn(binary, ["--home", home, ...words], { env, cwd: folder });
    let out = "", err = "";
    child.stdout.on("data", (bytes) => out += bytes);
    child.stderr.on("data", (bytes) => err += bytes);
    child.on("error", reject);
    child.on("close", (code) => resolve({ code, out, err }));
    child.stdin.on("error", () => {});
    child.stdin.end(stdin);
  });
}

// --- the processes ------------------------------------------------------------------------------

interface ProcessFacts {
  readonly pid: number;
  readonly parent: number;
  readonly state: string;
}

function processes(): ProcessFacts[] {
  return readdirSync("/proc").filter((name) => /^[0-9]+$/.test(name)).flatMap((name) => {
    try {
      const stat = readFileSync(`/proc/${name}/stat`, "utf8");
      const [state = "", parent] = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
      return { pid: Number(name), parent: Number(parent), state };
    } catch {
      return []; // gone
    }
  });
}

/** Every process of this run but ourselves and those that are dead, with its words. */
function ours(): { pid: number; words: string }[] {
  return processes().flatMap(({ pid, state }) => {
    if (pid === process.pid || state === "Z") return [];
    try {
      const own = readFileSync(`/proc/${pid}/environ`, "latin1").split("\0");
      if (!own.includes(`HERMES_SOAK=${folder}`)) return [];
      const words = readFileSync(`/proc/${pid}/cmdline`, "utf8").replaceAll("\0", " ").trim();
      return { pid, words };
    } catch {
      return [];
    }
  });
}

const isLeft = ({ words }: { words: string }) => words === `sleep ${LEFT}`;

function endAll(): void {
  for (const { pid } of ours()) {
    try {
      process.kill(pid, "SIGKILL");
    } catch {
      // gone
    }
  }
}

interface Sample {
  readonly half: 1 | 2 | "rest";
  /** Share of its half that is over. */
  readonly at: number;
  readonly rssMiB: number;
  readonly fds: number;
  readonly children: number;
  readonly zombies: readonly number[];
}

function look(pid: number, half: Sample["half"], at: number): Sample {
  const status = readFileSync(`/proc/${pid}/status`, "utf8");
  const children = processes().filter(({ parent }) => parent === pid);
  return {
    half,
    at,
    rssMiB: Number(/^VmRSS:\s+(\d+)/m.exec(status)?.[1]) / 1024,
    fds: readdirSync(`/proc/${pid}/fd`).length,
    children: children.length,
    zombies: children.filter(({ state }) => state === "Z").map(({ pid }) => pid),
  };
}

/** What the descriptors are, for a summary that has to explain them. */
function fdKinds(pid: number): string {
  const kinds = readdirSync(`/proc/${pid}/fd`).map((fd) => {
    try {
      return readlinkSync(`/proc/${pid}/fd/${fd}`).replace(/:\[.*|^\/.*/, "") || "file";
    } catch {
      return "gone";
    }
  });
  return [...Map.groupBy(kinds, (kind) => kind)].map(([kind, all]) => `${all.length} ${kind}`)
    .sort().join(", ");
}

// --- the load -----------------------------------------------------------------------------------

interface Answer {
  readonly status: number;
  readonly text: string;
}

const socketFile = path.join(home, "run", "hooks.sock");

/** Connections kept after a burst would stand for seconds and be counted as the listener's growth. */
const unkept = new http.Agent({ keepAlive: false });

function ask(method: string, route: string, body = "", agent = unkept): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const headers = { host: "localhost", "content-type": "application/json" };
    const options = { socketPath: socketFile, method, path: route, headers, agent };
    const request = http.request(options, (response) => {
      let text = "";
      response.setEncoding("utf8");
      response.on("data", (chunk) => text += chunk);
      response.on("end", () => resolve({ status: response.statusCode ?? 0, text }));
      response.on("error", reject);
    });
    request.on("error", reject);
    request.end(body);
  });
}

const counts = {
  events: 0,
  fires: 0,
  reloads: 0,
  broken: 0,
  consents: 0,
  rude: 0,
  polls: 0,
};
/** Answered events that the complete targets must have got. */
const owed: { mark: string; the: Case }[] = [];
const consent = { state: "on" as "on" | "off" | "changing", epoch: 0 };

/** Lets the load run and stops it, knowing how many are at it. */
class Valve {
  #open = false;
  #closedFor = new Set<string>();
  #at = 0;

  set open(open: boolean) {
    this.#open = open;
  }

  /** Keeps one kind of load out. */
  bar(kind: string, barred: boolean): void {
    if (barred) this.#closedFor.add(kind);
    else this.#closedFor.delete(kind);
  }

  async run(kind: string, work: () => Promise<void>): Promise<void> {
    if (!this.#open || this.#closedFor.has(kind)) return await sleep(50);
    this.#at++;
    try {
      await work();
    } catch (error) {
      violation(`${kind}: failed`, String((error as Error).stack ?? error));
      await sleep(200);
    } finally {
      this.#at--;
    }
  }

  async idle(): Promise<void> {
    while (this.#at > 0) await sleep(20);
  }
}

const valve = new Valve();
let over = false;
let listenerExit: { code: number | null; signal: string | null } | undefined;

function newMark(client: number): string {
  const mark = `c${client}x${++marks}`;
  fired.add(mark);
  return mark;
}

/** Picks an event, and what may be answered to it now. */
function draw(): Case {
  if (Math.random() < 0.04) return TOGGLED;
  return pick(DECK);
}

/** Judges an answer, of the toggled hook by the consent there was all the time. */
function judge(the: Case, mark: string, text: string, before: number, how: string): void {
  let fault: string | undefined;
  if (the !== TOGGLED) fault = faultOf(the, mark, text);
  else {
    const settled = consent.state !== "changing" && consent.epoch === before;
    const on = faultOf(TOGGLED, mark, text), off = faultOf(TOGGLED_OFF, mark, text);
    fault = settled ? (consent.state === "on" ? on : off) : on && off;
  }
  if (fault === undefined) return;
  violation(`${how} verdict: ${the.tool ?? the.event}`, `${mark}: ${fault}: ${text.slice(0, 400)}`);
}

async function client(number: number): Promise<void> {
  const agent = new http.Agent({ keepAlive: true, maxSockets: 1 });
  while (!over) {
    await valve.run("client", async () => {
      await one(draw(), number, agent);
      await sleep(Math.random() * 2 * PAUSE_MS);
    });
  }
  agent.destroy();
}

async function one(the: Case, number: number, agent?: http.Agent): Promise<void> {
  const mark = newMark(number), before = consent.epoch;
  const { status, text } = await ask(
    "POST",
    `/v1/events/${the.event}`,
    fieldsOf(the, mark),
    agent,
  );
  counts.events++;
  if (status !== 200) return violation(`answered ${status}`, `${the.tool ?? the.event}: ${text}`);
  judge(the, mark, text, before, "listener");
  if (toldTo(the)) owed.push({ mark, the });
}

const EXITS: Readonly<Record<string, number>> = { allow: 0, block: 2, approve: 3 };

async function fireLoop(number: number): Promise<void> {
  while (!over) {
    await valve.run("fire", async () => {
      const the = draw();
      const mark = newMark(number), before = consent.epoch;
      const { code, out, err } = await command(["fire", the.event], fieldsOf(the, mark));
      counts.fires++;
      judge(the, mark, out, before, "fire");
      let decision: unknown;
      try {
        decision = JSON.parse(out).decision;
      } catch {
        // judged already
      }
      const exit = the.event === "pre_tool_call" ? EXITS[String(decision)] : 0;
      if (code !== exit) violation("fire: wrong exit", `${mark} ${the.tool}: ${code} ${err}`);
      if (toldTo(the)) owed.push({ mark, the });
      await sleep(300 + Math.random() * 600);
    });
  }
}

const digest = (file: string) =>
  existsSync(file) ? createHash("sha256").update(readFileSync(file)).digest("hex") : null;

async function untilServed(what: string): Promise<void> {
  const wanted = digest(configFile);
  for (const end = Date.now() + 5_000; Date.now() < end; await sleep(50)) {
    const { text } = await ask("GET", "/readyz");
    if (JSON.parse(text).config_sha256 === wanted) return;
  }
  violation("reload: not in force after 5 s", what);
}

async function changeConsent(verb: "allow" | "revoke"): Promise<void> {
  consent.state = "changing";
  consent.epoch++;
  const { code, err } = await command([verb, commandOf("toggled")]);
  if (code !== 0) violation(`${verb}: exit ${code}`, err);
  if (err.includes("could not be told")) violation(`${verb}: listener not told`, err);
  // Commands that began before may still have read the other state.
  consent.epoch++;
  consent.state = verb === "allow" ? "on" : "off";
  counts.consents++;
}

/** A config that cannot be read: the present one stays. Commands would refuse to work meanwhile. */
async function breakConfig(listener: number): Promise<void> {
  valve.bar("fire", true);
  await sleep(1_500);
  const kept = readFileSync(configFile);
  const { text: before } = await ask("GET", "/readyz");
  writeConfig("broken");
  process.kill(listener, "SIGHUP");
  const { status } = await ask("POST", "/v1/reload");
  if (status !== 422) violation("broken config: reload answered", String(status));
  const { text: after } = await ask("GET", "/readyz");
  if (before !== after) violation("broken config: state changed", `${before} ${after}`);
  writeFileSync(`${configFile}.new`, kept);
  renameSync(`${configFile}.new`, configFile);
  valve.bar("fire", false);
  counts.broken++;
}

/** Says what is given, waits, and hangs up. */
async function rude(bytes: string, ms: number): Promise<void> {
  const socket = net.connect(socketFile);
  socket.on("error", () => {});
  socket.on("data", () => {});
  socket.write(bytes);
  await sleep(ms);
  socket.destroy();
  counts.rude++;
}

function requestText(the: Case, client: number): string {
  const body = fieldsOf(the, newMark(client));
  return `POST /v1/events/${the.event} HTTP/1.1\r\nHost: localhost\r\n` +
    `Content-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
}

async function beRude(): Promise<void> {
  const number = CLIENTS + FIRE_LOOPS;
  const whole = requestText(pick(CASES), number);
  await Promise.all([
    rude(whole.slice(0, whole.length - 20), 3_000), // over the body's time limit
    rude(whole.slice(0, whole.length - 20), 10),
    rude(whole.slice(0, 60), 10),
    rude(requestText(pick(CASES), number), 1),
    rude(requestText(toolCase("stalls", "", ""), number), 300),
    rude(requestText(toolCase("floods", "", ""), number), 30),
    rude("\x16\x03\x01 what\r\n\r\n", 10),
  ]);
  for (
    const [event, body, wanted] of [["nonsense", "{}", 404], ["pre_tool_call", "{", 400]] as const
  ) {
    const { status, text } = await ask("POST", `/v1/events/${event}`, body);
    if (status !== wanted) violation(`bad request answered ${status}`, `${event} ${body}: ${text}`);
  }
}

async function poll(): Promise<void> {
  for (const route of ["/metrics", "/v1/hooks", "/v1/deliveries", "/v1/events", "/openapi.json"]) {
    const { status } = await ask("GET", route);
    if (status !== 200) violation(`poll answered ${status}`, route);
    counts.polls++;
  }
}

/** Everything that is done to the listener now and then, one after another. */
async function operate(listener: number): Promise<void> {
  let variant: Variant = "with guest";
  const steps: (() => Promise<void>)[] = [
    poll,
    async () => {
      variant = variant === "with guest" ? "without guest" : "with guest";
      writeConfig(variant);
      process.kill(listener, "SIGHUP");
      await untilServed(variant);
      counts.reloads++;
    },
    beRude,
    () => changeConsent("revoke"),
    async () => {
      await Promise.all(
        Array.from({ length: 32 }, () => one(pick(CASES), CLIENTS + FIRE_LOOPS + 1)),
      );
    },
    () => changeConsent("allow"),
    () => breakConfig(listener),
  ];
  for (let step = 0; !over;) {
    await valve.run("operator", async () => {
      await steps[step++ % steps.length]!();
      await sleep(800);
    });
  }
}

/** A receiver that is there for a while and then is not. */
async function blink(): Promise<void> {
  while (!over) {
    await sleep(4_000);
    await blinking.close();
    await sleep(3_000);
    if (!over) await blinking.open();
  }
}

// --- the run ------------------------------------------------------------------------------------

interface Metrics {
  depth(target: string): number;
  deliveries(target: string, result: string): number;
  inflight: number;
}

async function metrics(): Promise<Metrics> {
  const { text } = await ask("GET", "/metrics");
  const at = (line: string) => {
    const found = text.split("\n").find((each) => each.startsWith(line));
    return Number(found?.slice(line.length) ?? 0);
  };
  return {
    depth: (target) => at(`hermes_hooks_queue_depth{target="${target}"} `),
    deliveries: (target, result) =>
      at(`hermes_hooks_deliveries_total{target="${target}",result="${result}"} `),
    inflight: at("hermes_hooks_events_inflight "),
  };
}

const samples: Sample[] = [];

async function loadFor(pid: number, half: 1 | 2): Promise<void> {
  const began = Date.now(), ms = SECONDS * 500;
  const every = Math.min(5_000, ms / 20);
  valve.open = true;
  while (Date.now() - began < ms && !listenerExit) {
    await sleep(every);
    if (!listenerExit) samples.push(look(pid, half, (Date.now() - began) / ms));
  }
  valve.open = false;
}

/** Waits until nothing is under way, and looks at what is still there. */
async function rest(pid: number): Promise<{ sample: Sample; kinds: string }> {
  await valve.idle();
  for (const end = Date.now() + 90_000;; await sleep(500)) {
    const now = await metrics();
    const busy = RECEIVERS.filter(({ name }) => !HOPELESS.includes(name) && now.depth(name) > 0);
    if (busy.length === 0 && now.inflight === 0) break;
    if (Date.now() < end) continue;
    const left = busy.map(({ name }) => `${name} ${now.depth(name)}`).join(", ");
    violation("at rest: still busy after 90 s", `${now.inflight} events, ${left}`);
    break;
  }
  await sleep(6_000); // kept connections are closed after 4 s, half requests after 2 s
  const sample = look(pid, "rest", 1);
  samples.push(sample);
  return { sample, kinds: fdKinds(pid) };
}

function checkMemory(kind: string, [before, after]: readonly [number, number]): void {
  if (SECONDS < MEMORY_JUDGED_FROM_S) return;
  const allowed = Math.max(before * RSS_GROWTH.share, RSS_GROWTH.mib);
  if (after <= before + allowed) return;
  violation(kind, `${before.toFixed(0)} to ${after.toFixed(0)} MiB, ${allowed.toFixed(0)} allowed`);
}

function checkGrowth(rests: readonly { sample: Sample; kinds: string }[]) {
  const quarter = (half: 1 | 2) => samples.filter((one) => one.half === half && one.at > 0.5);
  const of = (key: "rssMiB" | "fds" | "children", half: 1 | 2) =>
    median(quarter(half).map((one) => one[key]));
  const rss = [of("rssMiB", 1), of("rssMiB", 2)] as const;
  checkMemory("memory grew", rss);
  const fds = [of("fds", 1), of("fds", 2)] as const;
  if (!(fds[1] <= fds[0] + FDS_LOADED_GROWTH)) violation("descriptors grew", fds.join(" to "));
  const children = [of("children", 1), of("children", 2)] as const;
  if (!(children[1] <= children[0] + CLIENTS)) violation("children grew", children.join(" to "));
  const [first, last] = rests;
  if (first && last) {
    checkMemory("memory at rest grew", [first.sample.rssMiB, last.sample.rssMiB]);
  }
  if (first && last && last.sample.fds > first.sample.fds + FDS_REST_GROWTH) {
    violation("descriptors at rest grew", `${first.kinds} to ${last.kinds}`);
  }
  for (const { sample } of rests) {
    if (sample.children > 0) violation("children at rest", String(sample.children));
  }
  // One that is not yet collected is nothing; one that stays is.
  const stayed = samples.filter((one, at) =>
    one.zombies.some((pid) => samples[at - 1]?.zombies.includes(pid))
  );
  if (stayed.length > 0) violation("zombies stay", stayed[0]!.zombies.join());
  return { rss, fds, children };
}

function checkDeliveries(final: Metrics): void {
  for (const receiver of RECEIVERS) {
    const { name, traits, receipts, accepted } = receiver;
    const claimed = final.deliveries(name, "delivered");
    if (claimed > accepted) {
      violation("deliveries claimed", `${name}: ${claimed}, accepted ${accepted}`);
    }
    if (!traits.complete) continue;
    const got = new Set(
      [...receipts.values()].filter((one) => one.accepted).map((one) => one.mark),
    );
    const events = receiver.entry.includes("pre_tool_call") ? undefined : ["on_session_end"];
    for (const { mark, the } of owed) {
      if (events && !events.includes(the.event)) continue;
      if (!got.has(mark)) violation(`delivery lost: ${name}`, `${mark} ${the.event}`);
    }
  }
}

/** Ends the listener while events are under way; those are answered all the same. */
async function stop(pid: number, exited: Promise<void>): Promise<number> {
  const under = [SLOW, SLOW, SLOW, toolCase("leaves", "allow", "none")];
  const last = Promise.all(under.map((the) => one(the, CLIENTS + FIRE_LOOPS + 1)))
    .catch((error) => violation("stop: an event under way was not answered", String(error)));
  await sleep(300);
  const began = Date.now();
  process.kill(pid, "SIGTERM");
  await Promise.race([exited, sleep(20_000)]);
  const took = Date.now() - began;
  if (!listenerExit) {
    violation("stop: still there after 20 s", "");
    process.kill(pid, "SIGKILL");
    await exited;
  } else if (listenerExit.code !== 0) {
    violation("stop: exit", JSON.stringify(listenerExit));
  }
  await last;
  return took;
}

/** A sender left by commands ends by itself; the rest is what nobody wanted. */
async function checkLeftovers(): Promise<{ left: number; senderMs: number }> {
  const began = Date.now();
  const others = () => ours().filter((one) => !isLeft(one));
  while (others().length > 0 && Date.now() - began < 185_000) await sleep(250);
  const senderMs = Date.now() - began;
  for (const { pid, words } of others()) violation("left behind", `${pid} ${words}`);
  if (existsSync(socketFile)) violation("left behind", socketFile);
  const left = ours().filter(isLeft).length;
  endAll();
  return { left, senderMs };
}

function checkLog(): Map<string, number> {
  const levels = new Map<string, number>();
  for (const text of readFileSync(logFile, "utf8").split("\n")) {
    if (text === "") continue;
    let level = "not JSON";
    try {
      level = String(JSON.parse(text).level);
    } catch {
      violation("log: not JSON", text);
    }
    levels.set(level, (levels.get(level) ?? 0) + 1);
    const expected = /not reloaded, the present state stays in force/.test(text);
    if (level === "error" && !expected) violation("log: error", text);
  }
  return levels;
}

async function main(): Promise<number> {
  makeHome();
  for (const receiver of RECEIVERS) await receiver.open();
  await closed.close();
  writeConfig("with guest"); // the ports are known now
  const { code, err } = await command(["allow", "--all"]);
  if (code !== 0) throw new Error(`allow: ${err}`);
  const log = openSync(logFile, "w");
  // A session of its own: a hook that kills its group must not reach us.
  const child = spawn(binary, ["--home", home, "serve", "--log-format", "json"], {
    env,
    cwd: folder,
    stdio: ["ignore", "ignore", log],
    detached: true,
  });
  const exited = new Promise<void>((resolve) =>
    child.on("exit", (code, signal) => {
      listenerExit = { code, signal };
      resolve();
    })
  );
  const pid = child.pid!;
  for (const end = Date.now() + 10_000; !existsSync(socketFile); await sleep(50)) {
    if (listenerExit || Date.now() > end) throw new Error(readFileSync(logFile, "utf8"));
  }
  const start = look(pid, "rest", 0);
  const load = [
    ...Array.from({ length: CLIENTS }, (_, number) => client(number)),
    ...Array.from({ length: FIRE_LOOPS }, (_, number) => fireLoop(CLIENTS + number)),
    operate(pid),
    blink(),
  ];
  const rests = [];
  for (const half of [1, 2] as const) {
    await loadFor(pid, half);
    if (listenerExit) break;
    rests.push(await rest(pid));
  }
  over = true;
  let stopMs = 0;
  if (listenerExit) violation("the listener ended", JSON.stringify(listenerExit));
  else {
    const final = await metrics();
    stopMs = await stop(pid, exited);
    checkDeliveries(final);
  }
  await Promise.all(load);
  const { left, senderMs } = await checkLeftovers();
  for (const receiver of RECEIVERS) await receiver.close();
  const grown = checkGrowth(rests);
  summary({ start, rests, grown, stopMs, left, senderMs, levels: checkLog() });
  return violations.size === 0 ? 0 : 1;
}

interface Summary {
  readonly start: Sample;
  readonly rests: readonly { sample: Sample; kinds: string }[];
  readonly grown: ReturnType<typeof checkGrowth>;
  readonly stopMs: number;
  readonly left: number;
  readonly senderMs: number;
  readonly levels: ReadonlyMap<string, number>;
}

function summary({ start, rests, grown, stopMs, left, senderMs, levels }: Summary): void {
  const loaded = samples.filter(({ half }) => half !== "rest");
  const most = (key: "rssMiB" | "fds" | "children") =>
    Math.round(Math.max(...loaded.map((one) => one[key])));
  const line = (name: string, text: string) => console.log(`${name.padEnd(12)} ${text}`);
  const perSecond = Math.round((counts.events + counts.fires) / SECONDS);
  const said = Object.entries(counts).map(([name, count]) => `${count} ${name}`).join(", ");
  line("load", `${SECONDS} s: ${said} (${perSecond}/s)`);
  for (const { name, attempts, receipts, accepted } of RECEIVERS) {
    line(
      "target",
      `${name}: ${receipts.size} deliveries, ${attempts} attempts, ${accepted} accepted`,
    );
  }
  const { rss, fds, children } = grown;
  const rested = rests.map(({ sample }) => sample.rssMiB.toFixed(0)).join(", ");
  line(
    "memory",
    `${start.rssMiB.toFixed(0)} MiB at the start, ${rss[0].toFixed(0)} in the second quarter, ` +
      `${rss[1].toFixed(0)} in the last, at most ${most("rssMiB")}; at rest ${rested}`,
  );
  const eighths = Array.from({ length: 8 }, (_, n) => {
    const from = Math.floor(loaded.length * n / 8), to = Math.floor(loaded.length * (n + 1) / 8);
    return median(loaded.slice(from, to).map((one) => one.rssMiB)).toFixed(0);
  });
  line("", `MiB by eighths of the load: ${eighths.join(", ")}`);
  line(
    "descriptors",
    `${start.fds} at the start, ${fds[0]} in the second quarter, ${fds[1]} in the last, ` +
      `at most ${most("fds")}`,
  );
  for (const { sample, kinds } of rests) line("at rest", `${sample.fds} descriptors: ${kinds}`);
  const zombies = Math.max(...loaded.map((one) => one.zombies.length));
  line(
    "children",
    `${children[0]} in the second quarter, ${children[1]} in the last, at most ` +
      `${most("children")}, of them ${zombies} zombies; at rest ` +
      rests.map(({ sample }) => `${sample.children}`).join(", "),
  );
  line(
    "stop",
    `${stopMs} ms; the last process of ours ended ${senderMs} ms later, ${left} left on purpose`,
  );
  line("log", [...levels].map(([level, count]) => `${count} ${level}`).join(", "));
  for (const [kind, { count, example }] of violations) {
    line("VIOLATION", `${kind} (${count} times), the first: ${example}`);
  }
  line(
    "verdict",
    violations.size === 0 ? "nothing grew, nothing was left, nothing was wrong" : "failed",
  );
}

function tidy(): void {
  endAll();
  if (violations.size === 0) rmSync(folder, { recursive: true, force: true });
  else console.log(`${"kept".padEnd(12)} ${folder}`);
}

for (const name of ["SIGINT", "SIGTERM"] as const) {
  process.on(name, () => {
    endAll();
    rmSync(folder, { recursive: true, force: true });
    process.exit(130);
  });
}
try {
  const exit = await main();
  tidy();
  process.exit(exit);
} catch (error) {
  violation("the script failed", String((error as Error).stack));
  console.error(String((error as Error).stack));
  tidy();
  process.exit(1);
}
