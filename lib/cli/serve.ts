/** `serve`: the listener, run by a person or a service manager until a signal ends it. */
import process from "node:process";
import { readListen, readServeSettings, type ServeSettings } from "../config/serve_settings.ts";
import type { Context } from "../context.ts";
import { readRegistry, type Registry } from "../dispatch/registry.ts";
import { catalog } from "../events/catalog.ts";
import { type Json, printable } from "../events/json.ts";
import { problemText } from "../events/problem.ts";
import { notifyManager } from "../platform/notify.ts";
import { Log, type LogLevel } from "../server/log.ts";
import { type RunningServer, ServeError, startServer, type Stopped } from "../server/server.ts";
import type { Descriptions } from "../server/service.ts";
import type { Token } from "../server/token.ts";
import { findGatewayFolders } from "../sources/gateway/folder.ts";
import { killAll, killAllNow } from "../sources/shell/run/running.ts";
import { VERSION } from "../version.ts";
import { type Args, UsageError } from "./args.ts";
import { contextOf } from "./context.ts";
import { rowJson } from "./events.ts";
import { consentHere } from "./fire.ts";
import { gatewayHosts } from "./gateway_hosts.ts";
import { gatewayJson } from "./gateway_report.ts";
import type { Io } from "./io.ts";
import { counted } from "./style.ts";
import { allProblems, hookJson, problemJson, survey } from "./survey.ts";

const FORMATS = ["auto", "text", "json"] as const;
const LEVELS = ["debug", "info", "warning", "error"] as const;

function oneOf<T extends string>(
  args: Args,
  name: "log-format" | "log-level",
  known: readonly T[],
) {
  const given = args.options[name];
  const word = known.find((each) => each === given);
  if (given === undefined || word !== undefined) return word;
  throw new UsageError(`--${name} takes ${known.join(", ")}, not "${printable(given)}"`);
}

function listenOption(args: Args) {
  const { listen } = args.options;
  if (listen === undefined) return undefined;
  const address = readListen(listen);
  if (address) return address;
  throw new UsageError(
    `--listen takes an address such as 127.0.0.1:8645, not "${printable(listen)}"`,
  );
}

function logOf(args: Args, io: Io, settings: ServeSettings): Log {
  const format = oneOf(args, "log-format", FORMATS) ?? settings.log_format;
  return new Log({
    format: format === "auto" ? (io.stderrTty ? "text" : "json") : format,
    level: levelOption(args) ?? settings.log_level,
    write: (text) => io.err(text),
    now: () => new Date(),
  });
}

function levelOption(args: Args): LogLevel | undefined {
  return oneOf(args, "log-level", LEVELS) ?? (args.options.debug ? "debug" : undefined);
}

function descriptions(args: Args): Descriptions {
  const accept = args.options["accept-hooks"] ?? false;
  return {
    hooks: async (registry) => {
      const surveyed = survey(registry, accept);
      const gateway = await findGatewayFolders(registry.context.home);
      return new Map<string, Json>([
        ["safe_mode", registry.safeMode],
        ["hooks", surveyed.map(hookJson)],
        ["gateway", gateway.hooks.map(gatewayJson)],
        ["problems", [...allProblems(registry, surveyed), ...gateway.problems].map(problemJson)],
      ]);
    },
    events: () => catalog().map((row) => rowJson(row, row.variants)),
  };
}

function problemsOf(registry: Registry): string[] {
  return allProblems(registry, survey(registry, false)).map(problemText);
}

function showToken(io: Io) {
  return ({ token }: Token) => io.err(`bearer token for TCP, shown this once: ${token}\n`);
}

/** What was started, in one line for the log. */
function sayStarted(log: Log, server: RunningServer, context: Context): void {
  const { socket, tcp } = server;
  log.line("info", `hermes-hooks ${VERSION} is listening`, {
    pid: process.pid,
    home: context.home,
    socket,
    tcp: tcp && `${tcp.host.includes(":") ? `[${tcp.host}]` : tcp.host}:${tcp.port}`,
  });
}

function sayStopped(log: Log, { ended, dropped }: Stopped): void {
  if (ended > 0) {
    log.line("warning", `${counted(ended, "event")} ended without a verdict: time was up`);
  }
  if (dropped > 0) {
    log.line(
      "warning",
      `${counted(dropped, "delivery").replace("ys", "ies")} dropped: time was up`,
    );
  }
  log.line("info", "stopped");
  log.flush();
}

/** Serves until TERM or INT; HUP reloads. A second TERM or INT does not wait for anything. */
function untilSignal(server: RunningServer, log: Log, notify: (state: string) => void) {
  return new Promise<number>((exit) => {
    let stopping = false;
    for (const [name, number] of [["SIGINT", 2], ["SIGTERM", 15]] as const) {
      process.on(name, () => {
        if (stopping) {
          killAllNow();
          log.line("warning", `${name} again: exiting at once`);
          process.exit(128 + number);
        }
        stopping = true;
        notify("STOPPING=1");
        log.line("info", `${name}: stopping`);
        server.stop().then((stopped) => {
          sayStopped(log, stopped);
          exit(0);
        }, (error) => {
          log.line("error", `stopping failed: ${(error as Error).message}`);
          exit(1);
        });
      });
    }
    process.on("SIGHUP", () => void server.reload().catch(() => {}));
  });
}

/** Runs it; 0 after a stop by signal, 1 when it cannot start. */
export async function serve(args: Args, io: Io, context: Context): Promise<number> {
  if (args.words.length > 0) throw new UsageError("serve takes no further words");
  const listen = listenOption(args);
  // Once for the log alone: what is served is read when everything else stands.
  const { settings } = await readRegistry(context);
  const log = logOf(args, io, readServeSettings(settings.serve, context.configFile).settings);
  const notify = (state: string) => notifyManager(context.env["NOTIFY_SOCKET"], state);
  const logged = (): Context => ({
    ...contextOf(args, io),
    log: (level, text) => log.line(level, text),
  });
  try {
    const server = await startServer({
      context: logged,
      consentFor: (registry) => consentHere(args, io, registry),
      listen,
      log,
      levelFixed: levelOption(args) !== undefined,
      describe: descriptions(args),
      problems: problemsOf,
      makeHost: await gatewayHosts({ log: (level, text) => log.line(level, text) }),
      endHooks: killAll,
      uid: process.getuid?.(),
      pid: process.pid,
      showToken: io.stderrTty ? showToken(io) : undefined,
    });
    sayStarted(log, server, context);
    const exit = untilSignal(server, log, notify);
    notify(`READY=1\nMAINPID=${process.pid}`);
    return await exit;
  } catch (error) {
    log.flush();
    if (!(error instanceof ServeError)) throw error;
    io.err(`hermes-hooks: ${printable(error.message)}\n`);
    return 1;
  }
}
