/** A home for a proof, and the program run in it. */
import { type ChildProcess, spawn } from "node:child_process";
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import http from "node:http";
import os from "node:os";
import path from "node:path";
import process from "node:process";

const PROGRAM = path.join(import.meta.dirname!, "..", "..", "dist", "hermes-hooks");

/** Waits so many ms. */
export const sleep = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));

/** Waits until `check` holds; throws after `ms`. */
export async function until(check: () => boolean | Promise<boolean>, ms: number, what: string) {
  const deadline = performance.now() + ms;
  while (!await check()) {
    if (performance.now() > deadline) throw new Error(`not within ${ms / 1000} s: ${what}`);
    await sleep(20);
  }
}

/** What a finished command said. */
export interface Ran {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** One home; `queue` is the value of `hermes_hooks.outbound.queue`. */
export class Home {
  readonly folder: string;
  readonly env: Readonly<Record<string, string>>;
  #agent = new http.Agent({ keepAlive: true, maxSockets: 64 });

  constructor(queue: string, port: number, folder = mkdtempSync(path.join(os.tmpdir(), "proof-"))) {
    this.folder = folder;
    this.env = { PATH: process.env["PATH"] ?? "", HOME: folder, HERMES_HOME: folder };
    writeFileSync(
      path.join(folder, "config.yaml"),
      `hooks:
  outbound:
    - name: sink
      url: http://127.0.0.1:${port}/
      events: [on_session_end]
      secret: s
      concurrency: 8
      max_queue: 1000000
      retry: {schedule: [1s], attempts: 100}
hermes_hooks:
  outbound:
    queue: ${queue}
`,
    );
  }

  get socket(): string {
    return path.join(this.folder, "run", "hooks.sock");
  }

  /** Runs a command to its end. */
  run(args: readonly string[], input = ""): Promise<Ran> {
    const child = spawn(PROGRAM, args, { env: this.env, cwd: this.folder });
    let stdout = "", stderr = "";
    child.stdout.on("data", (text) => stdout += text);
    child.stderr.on("data", (text) => stderr += text);
    child.stdin.on("error", () => {});
    child.stdin.end(input);
    return new Promise((resolve) => child.on("close", (code) => resolve({ code, stdout, stderr })));
  }

  /** Fires one event with a session of its own. */
  fire(session: string): Promise<Ran> {
    return this.run(["fire", "on_session_end"], JSON.stringify({ session_id: session }));
  }

  /** Starts the listener; resolves when it takes events. */
  async serve(log: "ignore" | "inherit" = "ignore"): Promise<ChildProcess> {
    const child = spawn(PROGRAM, ["serve"], {
      env: this.env,
      cwd: this.folder,
      stdio: ["ignore", "ignore", log],
    });
    await until(
      async () => existsSync(this.socket) && await this.status("GET", "/readyz") === 200,
      20_000,
      "the listener takes events",
    );
    return child;
  }

  /** The status of a request to the listener; 0 when there was no answer. */
  async status(method: string, url: string, body?: string): Promise<number> {
    return (await this.ask(method, url, body)).status;
  }

  /** A request to the listener; status 0 when there was no answer. */
  ask(method: string, url: string, body?: string): Promise<{ status: number; text: string }> {
    return new Promise((resolve) => {
      const request = http.request(
        { socketPath: this.socket, path: url, method, agent: this.#agent },
        (response) => {
          let text = "";
          response.on("data", (chunk) => text += chunk);
          response.on("end", () => resolve({ status: response.statusCode ?? 0, text }));
          response.on("error", () => resolve({ status: 0, text }));
        },
      );
      request.on("error", () => resolve({ status: 0, text: "" }));
      request.end(body);
    });
  }

  /** Posts an event with this session; was it accepted? */
  async post(session: string): Promise<boolean> {
    const body = JSON.stringify({ session_id: session, note: "x".repeat(400) });
    return await this.status("POST", "/v1/events/on_session_end", body) === 200;
  }

  /** How many deliveries wait, by the command line; undefined when it cannot say. */
  async waiting(): Promise<number | undefined> {
    const { code, stdout } = await this.run(["deliveries", "status", "--json"]);
    if (code !== 0) return undefined;
    const { targets } = JSON.parse(stdout) as { targets: { waiting: number }[] };
    return targets.reduce((sum, { waiting }) => sum + waiting, 0);
  }

  /** Starts a listener, waits until nothing waits any more, and stops it. */
  async deliverAll(ms = 60_000): Promise<void> {
    const child = await this.serve();
    await until(async () => await this.waiting() === 0, ms, "all is delivered");
    child.kill("SIGTERM");
    await new Promise((resolve) => child.once("exit", resolve));
  }

  remove(): void {
    this.#agent.destroy();
    rmSync(this.folder, { recursive: true, force: true });
  }
}
