/** Homes, listeners and requests for the tests of the listener. */
import { type ChildProcess, spawn } from "node:child_process";
import fs from "node:fs";
import http from "node:http";
import os from "node:os";
import path from "node:path";
import process from "node:process";
import type { Context } from "../../lib/context.ts";
import type { ConsentOptions } from "../../lib/dispatch/register.ts";
import { Log } from "../../lib/server/log.ts";
import { type RunningServer, startServer } from "../../lib/server/server.ts";
import { createHost } from "../../lib/sources/host/create.ts";

/** A home in a folder of its own. */
export class Home {
  readonly folder = fs.realpathSync(fs.mkdtempSync(path.join(os.tmpdir(), "serve-")));
  readonly config = path.join(this.folder, "config.yaml");

  constructor(config = "hooks: {}\n") {
    this.write(config);
  }

  get socket(): string {
    return path.join(this.folder, "run", "hooks.sock");
  }

  write(config: string): void {
    fs.writeFileSync(this.config, config);
  }

  /** An executable shell script in the home. */
  script(name: string, body: string): string {
    const file = path.join(this.folder, name);
    fs.writeFileSync(file, `#!/bin/sh\n${body}\n`, { mode: 0o755 });
    return file;
  }

  /** Approves commands on pre_tool_call, and nothing else. */
  approve(...commands: string[]): void {
    const approvals = commands.map((command) => ({ event: "pre_tool_call", command }));
    const file = path.join(this.folder, "shell-hooks-allowlist.json");
    fs.writeFileSync(file, JSON.stringify({ approvals }));
  }

  remove(): void {
    fs.rmSync(this.folder, { recursive: true, force: true });
  }
}

/** A config with these commands on pre_tool_call. */
export function hooksConfig(commands: readonly string[], serve = ""): string {
  const entries = commands.map((command) => `    - command: ${command}\n`).join("");
  return `hooks:\n  pre_tool_call:\n${entries}hermes_hooks:\n  serve:\n    log_level: info\n${serve}`;
}

/** A listener in this process, with what it logged. */
export interface InProcess {
  readonly server: RunningServer;
  readonly log: string[];
}

/** Starts a listener in this process. */
export async function startHere(
  home: Home,
  options: {
    readonly consent?: ConsentOptions;
    readonly listen?: { host: string; port: number };
    readonly env?: Record<string, string>;
  } = {},
): Promise<InProcess> {
  const log: string[] = [];
  const context = (): Context => ({
    home: home.folder,
    configFile: home.config,
    profile: "custom",
    env: { PATH: process.env["PATH"] ?? "", ...options.env },
    startFolder: home.folder,
    now: () => new Date(),
    log: (level, line) => void log.push(`${level} ${line}`),
  });
  const server = await startServer({
    context,
    consentFor: () => options.consent ?? {},
    listen: options.listen,
    log: new Log({
      format: "json",
      level: "debug",
      write: (text) => void log.push(...text.split("\n").filter(Boolean)),
      now: () => new Date(),
    }),
    levelFixed: true,
    describe: { hooks: () => new Map(), events: () => [] },
    makeHost: (spec) => {
      const [file, args] = command();
      return createHost(spec, {
        self: { file, args },
        log: (line, level) => void log.push(JSON.stringify({ level, message: line })),
      });
    },
    problems: (registry) => registry.problems.map(({ message }) => message),
    endHooks: () => Promise.resolve(),
    uid: process.getuid?.(),
    pid: process.pid,
  });
  return { server, log };
}

/** Where to send a request: a socket's path, or a port of this machine. */
export type Where = string | number;

/** What a request may say beside where it goes. */
export interface Request {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

/** An answer, its JSON read. */
export interface Answer {
  readonly status: number;
  readonly headers: http.IncomingHttpHeaders;
  readonly text: string;
  // deno-lint-ignore no-explicit-any -- what the listener answers is what the tests look into
  readonly json: any;
}

/** Sends a request; POST when it has a body. */
export function ask(where: Where, url: string, request: Request = {}): Promise<Answer> {
  const at = typeof where === "string" ? { socketPath: where } : { host: "127.0.0.1", port: where };
  const { body, method = body === undefined ? "GET" : "POST", headers } = request;
  return new Promise((resolve, reject) => {
    const sent = http.request(
      { ...at, path: url, method, agent: false, headers: { host: "localhost", ...headers } },
      (answer) => {
        let text = "";
        answer.setEncoding("utf8");
        answer.on("data", (chunk) => text += chunk);
        answer.on("error", reject);
        answer.on("end", () => {
          let json;
          try {
            json = JSON.parse(text);
          } catch {
            json = undefined;
          }
          resolve({ status: answer.statusCode ?? 0, headers: answer.headers, text, json });
        });
      },
    );
    sent.on("error", reject);
    sent.end(body);
  });
}

/** `hermes-hooks` under the runtime these tests run in. */
export function command(...words: string[]): [string, string[]] {
  const main = path.join(import.meta.dirname!, "..", "..", "main.ts");
  const before = "Bun" in globalThis ? [] : ["run", "-A", "--quiet"];
  return [process.execPath, [...before, main, ...words]];
}

/** A listener as a process of its own. */
export interface Served {
  readonly child: ChildProcess;
  /** Not `child.kill`: after one of those Deno sends no other, and takes the end for a killing. */
  signal(name: "SIGTERM" | "SIGINT" | "SIGHUP" | "SIGKILL"): void;
  /** What came on stderr so far. */
  log(): string;
  /** Waits until the log has this. */
  said(pattern: RegExp): Promise<void>;
  /** Its exit code, or the signal that ended it. */
  readonly ended: Promise<number | string | null>;
}

/** Starts `serve` on a home and waits until it listens. */
export async function startChild(
  home: Home,
  words: readonly string[] = [],
  env: Record<string, string> = {},
): Promise<Served> {
  const [file, args] = command("--home", home.folder, "serve", ...words);
  const child = spawn(file, args, {
    env: { PATH: process.env["PATH"] ?? "", HOME: home.folder, ...env },
    stdio: ["ignore", "ignore", "pipe"],
  });
  let log = "";
  let look = () => {};
  child.stderr!.on("data", (bytes) => {
    log += bytes;
    look();
  });
  const ended = new Promise<number | string | null>((resolve) =>
    child.on("exit", (code, signal) => {
      look();
      resolve(code ?? signal);
    })
  );
  const said = (pattern: RegExp) =>
    new Promise<void>((resolve, reject) => {
      const timer = setTimeout(() => reject(new Error(`no ${pattern} in: ${log}`)), 20_000);
      look = () => {
        if (!pattern.test(log)) return;
        clearTimeout(timer);
        resolve();
      };
      look();
    });
  await said(/is listening/);
  return {
    child,
    signal: (name) => void process.kill(child.pid!, name),
    log: () => log,
    said,
    ended,
  };
}
