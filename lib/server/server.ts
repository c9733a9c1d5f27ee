/** The listener: everything put together, started, reloaded and stopped. */
import type { Context } from "../context.ts";
import { ConfigError } from "../config/load.ts";
import {
  readServeSettings,
  type ServeSettings,
  type TcpAddress,
} from "../config/serve_settings.ts";
import { readQueueSettings } from "../config/queue_settings.ts";
import type { Registry } from "../dispatch/registry.ts";
import { problemText } from "../events/problem.ts";
import { NotAccepted } from "../outbound/engine.ts";
import { openOutbox } from "../outbound/open_outbox.ts";
import type { Outbox } from "../outbound/outbox.ts";
import { type HttpListener, listenHttp } from "../platform/serve.ts";
import { findGatewayFolders } from "../sources/gateway/folder.ts";
import { GatewayHooks, gatewaySetup } from "../sources/gateway/gateway_hooks.ts";
import type { MakeHost } from "../sources/gateway/live_hook.ts";
import { droppingText, StreamQueues } from "../sources/stream_queue.ts";
import { type App, createApp } from "./app.ts";
import { type Door, tokenDigest } from "./guard.ts";
import { Inflight } from "./inflight.ts";
import { type ConsentFor, type Live, Loader } from "./live.ts";
import type { Log } from "./log.ts";
import { Metrics } from "./metrics.ts";
import type { Descriptions, Reload, Service } from "./service.ts";
import { listenOnSocket, ServeError } from "./socket.ts";
import { socketPathOf } from "../platform/socket_path.ts";
import { targetsOf } from "./targets.ts";
import { type Token, tokenFromEnv, tokenFromHome } from "./token.ts";

export { ServeError } from "./socket.ts";

/** What a listener is made of. */
export interface ServerOptions {
  /** Where we stand, found anew at each reload: `<home>/.env` may have changed. */
  readonly context: () => Context;
  readonly consentFor: ConsentFor;
  /** What `--listen` said; it wins over `serve.listen`. */
  readonly listen?: TcpAddress;
  readonly log: Log;
  /** Was the log's level named on the command line? Then the config's does not count. */
  readonly levelFixed: boolean;
  readonly describe: Descriptions;
  /** Every problem of a registry, for the start and each reload. */
  readonly problems: (registry: Registry) => readonly string[];
  /** Makes the hosts of plugins and gateway hooks, which log to where this listener does. */
  readonly makeHost: MakeHost;
  /** Ends every hook under way, as a signal does. */
  readonly endHooks: () => Promise<void>;
  readonly uid: number | undefined;
  readonly pid: number;
  /** Called once we listen; readiness does not wait for it. */
  readonly onStarted?: () => void;
  /** Shows a token that was just made; given only where a person is looking. */
  readonly showToken?: (token: Token) => void;
}

/** What stopping came to. */
export interface Stopped {
  /** Events whose hooks were ended and whose callers got no verdict. */
  readonly ended: number;
  /** Deliveries given up. */
  readonly dropped: number;
}

/** A listener that takes events. */
export interface RunningServer {
  /** The unix socket; undefined when there is none but TCP. */
  readonly socket: string | undefined;
  /** The TCP address in use. */
  readonly tcp: TcpAddress | undefined;
  /** Reads the config again; a broken one changes nothing. One at a time, in the order asked. */
  reload(): Promise<Reload>;
  /**
   * Takes nothing new, waits for running events (`serve.stop_timeout`), ends the rest without a
   * verdict, drains deliveries for up to 5 s, and closes. A second call gives the first's result.
   */
  stop(): Promise<Stopped>;
}

/** How long deliveries may still be sent after the last event, in ms (rule 10.5). */
const DRAIN_MS = 5000;
/** How long the last answers may take to leave, in ms. */
const CLOSE_MS = 1000;

const within = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));

class Server implements RunningServer, Service {
  readonly inflight = new Inflight();
  readonly metrics: Metrics;
  readonly log: Log;
  readonly describe: Descriptions;
  readonly pid: number;
  readonly outbox: Outbox;
  readonly gateway: GatewayHooks;
  readonly streams: StreamQueues;
  stopping = false;
  live: Live;
  settings: ServeSettings;
  socket: string | undefined;
  tcp: TcpAddress | undefined;
  readonly #options: ServerOptions;
  readonly #loader: Loader;
  readonly #app: App;
  readonly #listeners: HttpListener[] = [];
  #reloading: Promise<unknown> = Promise.resolve();
  #stopped: Promise<Stopped> | undefined;

  constructor(options: ServerOptions, loader: Loader, live: Live, outbox: Outbox) {
    this.#options = options;
    this.#loader = loader;
    this.live = live;
    this.outbox = outbox;
    this.log = options.log;
    this.describe = options.describe;
    this.pid = options.pid;
    this.gateway = new GatewayHooks(options.makeHost, (level, line) => this.log.line(level, line));
    this.streams = new StreamQueues({
      outcome: (_, { warnings }) => warnings.forEach((text) => this.log.line("debug", text)),
      dropping: ({ name, event }) => this.log.line("warning", droppingText(name, event)),
    });
    this.metrics = new Metrics(
      () => this.inflight.size,
      () => outbox.counts(),
      () => this.streams.counts(),
      async () => await outbox.kept?.statuses(),
    );
    this.settings = this.#readSettings(live.registry);
    this.#app = createApp(this);
  }

  #readSettings({ settings, context }: Registry): ServeSettings {
    const read = readServeSettings(settings.serve, context.configFile);
    if (!this.#options.levelFixed) this.log.level = read.settings.log_level;
    return read.settings;
  }

  /** Everything wrong, said once: at the start and at each reload. */
  #say(live: Live): void {
    const { registry, warnings } = live;
    if (registry.safeMode) {
      const count = registry.entries.length;
      this.log.line("warning", `safe mode: HERMES_SAFE_MODE is set, none of ${count} hooks runs`);
    }
    const outbound = targetsOf(registry).problems.map(problemText);
    for (const text of new Set([...this.#options.problems(registry), ...outbound, ...warnings])) {
      this.log.line("warning", text);
    }
  }

  /** Finds the gateway hooks anew and puts them in force; whoever needs one first loads it. */
  async #discover({ registry }: Live): Promise<void> {
    const { hooks, problems } = await findGatewayFolders(registry.context.home);
    this.gateway.update(gatewaySetup(registry, hooks));
    for (const problem of problems) this.log.line("warning", problemText(problem));
  }

  /** rule 9.3: readiness waits neither for gateway hooks to load nor for what they do then. */
  async beginGateway(): Promise<void> {
    if (this.gateway.size === 0) return;
    await within(0);
    await this.gateway.load();
    await this.gateway.emit("gateway:startup", new Map());
  }

  async open(): Promise<void> {
    const { context, settings } = this.live.registry;
    this.#say(this.live);
    await this.#discover(this.live);
    const { problems } = readServeSettings(settings.serve, context.configFile);
    const fatal = problems.find(({ severity }) => severity === "error");
    if (fatal) throw new ServeError(problemText(fatal));
    const address = this.#options.listen ?? this.settings.listen;
    await this.#openSocket(context, address !== undefined);
    if (address) this.#openTcp(context, address);
  }

  async #openSocket(context: Context, dispensable: boolean): Promise<void> {
    const { uid, pid } = this.#options;
    const socket = socketPathOf(context.home, context.env, uid);
    try {
      const answer = (request: Request) => this.#app(request, { kind: "unix" });
      this.#listeners.push(await listenOnSocket(socket, answer, { uid, pid }));
      this.socket = socket;
    } catch (error) {
      const readOnly = error instanceof ServeError &&
        / cannot be made: (EROFS|EACCES)$/.test(error.message);
      if (!readOnly || !dispensable) throw error;
      this.log.line("warning", `no unix socket: ${error.message}; listening on TCP only`);
    }
  }

  #openTcp(context: Context, address: TcpAddress): void {
    const { uid, showToken } = this.#options;
    const { token_env } = this.settings;
    const token = token_env === undefined
      ? tokenFromHome(context.home, uid)
      : tokenFromEnv(token_env, context.env);
    const door: Door = { kind: "tcp", address, token: tokenDigest(token.token) };
    try {
      const listener = listenHttp(
        { kind: "tcp", ...address },
        (request) => this.#app(request, door),
      );
      this.#listeners.push(listener);
      this.tcp = { host: address.host, port: listener.port ?? address.port };
    } catch (error) {
      const code = (error as NodeJS.ErrnoException).code ?? (error as Error).message;
      throw new ServeError(`${address.host}:${address.port} cannot be listened on: ${code}`);
    }
    if (token.fresh) {
      this.log.line("info", `made a bearer token for TCP in "${token.file}"`);
      showToken?.(token);
    }
    if (!isLoopback(address.host)) {
      this.log.line(
        "warning",
        `LISTENING BEYOND THIS MACHINE on ${address.host} WITHOUT TLS: whoever can read the ` +
          "network sees the token and every payload; put a TLS proxy in front, or listen on 127.0.0.1",
      );
    }
  }

  /** Closes what is open, after a start that failed halfway. */
  async abandon(): Promise<void> {
    await Promise.all(this.#listeners.map((listener) => listener.stop()));
    await this.gateway.close();
    await this.live.plugins?.close();
    await this.outbox.close();
  }

  reload(): Promise<Reload> {
    const result = this.#reloading.then(() => this.#reload());
    this.#reloading = result.catch(() => {});
    return result;
  }

  async #reload(): Promise<Reload> {
    try {
      const live = await this.#loader.load(this.#options.context());
      const before = this.settings;
      this.#sayQueueChanged(this.live.registry, live.registry);
      this.outbox.replaceTargets(targetsOf(live.registry).targets);
      this.settings = this.#readSettings(live.registry);
      this.live = live;
      this.#say(live);
      await this.#discover(live);
      void this.gateway.load();
      for (const key of ["listen", "token_env"] as const) {
        if (JSON.stringify(before[key]) === JSON.stringify(this.settings[key])) continue;
        this.log.line("warning", `serve.${key} has changed: that takes effect at the next start`);
      }
      this.log.line("info", "reloaded", { hooks: live.registry.entries.length });
      return { ok: true, live };
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error;
      this.log.line("error", `not reloaded, the present state stays in force: ${error.message}`);
      return { ok: false, reason: error.message };
    }
  }

  #sayQueueChanged(...registries: [Registry, Registry]): void {
    const [before, after] = registries.map(({ root, context }) =>
      JSON.stringify(readQueueSettings(root, context.configFile).settings)
    );
    if (before === after) return;
    this.log.line(
      "warning",
      "hermes_hooks.outbound has changed: that takes effect at the next start",
    );
  }

  /** Dead letters wait for someone to look at them. */
  async sayDeadLetters(): Promise<void> {
    for (const { name, dead = 0 } of (await this.outbox.counts()).values()) {
      if (dead === 0) continue;
      const letters = dead === 1 ? "1 dead letter waits" : `${dead} dead letters wait`;
      this.log.line(
        "warning",
        `outbound "${name}": ${letters}: see hermes-hooks deliveries list --state dead`,
      );
    }
  }

  stop(): Promise<Stopped> {
    this.#stopped ??= this.#stop();
    return this.#stopped;
  }

  async #stop(): Promise<Stopped> {
    this.stopping = true;
    const closed = Promise.all(this.#listeners.map((listener) => listener.stop()));
    const ended = await this.inflight.idle(this.settings.stop_timeout * 1000);
    if (ended > 0) {
      await this.#options.endHooks();
      this.inflight.end();
    }
    this.streams.close();
    const [{ dropped }] = await Promise.all([
      this.outbox.drain(DRAIN_MS),
      this.gateway.close(),
      this.live.plugins?.close(),
    ]);
    await Promise.race([closed, within(CLOSE_MS)]);
    await this.outbox.close();
    return { ended, dropped };
  }
}

function isLoopback(host: string): boolean {
  return host === "localhost" || host === "::1" || /^127(\.[0-9]{1,3}){3}$/.test(host);
}

/** The outbox on the queue that the config asks for; under safe mode nothing is sent, nor opened. */
async function outboxOf(registry: Registry): Promise<Outbox> {
  const { context: { home, env, log, now, configFile }, root, safeMode } = registry;
  const { settings: queue, problems } = readQueueSettings(safeMode ? undefined : root, configFile);
  const fatal = problems.find(({ severity }) => severity === "error");
  if (fatal) throw new ServeError(problemText(fatal));
  try {
    const { targets } = targetsOf(registry);
    return await openOutbox({ home, queue, targets, env, log, now });
  } catch (error) {
    if (error instanceof NotAccepted) throw new ServeError(error.message);
    throw error;
  }
}

/**
 * Reads the home, registers its hooks (unseen ones may be asked about, now and never again), and
 * listens.
 * @throws ConfigError when the config cannot be used, ServeError when we cannot listen
 */
export async function startServer(options: ServerOptions): Promise<RunningServer> {
  const loader = new Loader(options.consentFor, options.makeHost);
  const live = await loader.load(options.context());
  const outbox = await outboxOf(live.registry);
  const { log } = options;
  const server = new Server(options, loader, live, outbox);
  try {
    await server.open();
  } catch (error) {
    await server.abandon();
    throw error;
  }
  server.sayDeadLetters().catch((error: Error) =>
    log.line("warning", `outbound: ${error.message}`)
  );
  void server.beginGateway();
  options.onStarted?.();
  return server;
}
