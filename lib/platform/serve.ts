/** Listening for HTTP: `Bun.serve` and `Deno.serve` behind one function. */

/** Where to listen. */
export type ListenAddress =
  | { readonly kind: "unix"; readonly path: string }
  /** Port 0: one that is free. */
  | { readonly kind: "tcp"; readonly host: string; readonly port: number };

/** Answers one request; a throw or rejection is answered 500 without a word about why. */
export type HttpHandler = (request: Request) => Response | Promise<Response>;

/** Something that listens. */
export interface HttpListener {
  /** The port in use; undefined on a unix socket. */
  readonly port: number | undefined;
  /**
   * Takes no new connections, closes idle ones, and settles when every request under way is
   * answered. A unix socket's file is gone afterwards.
   */
  stop(): Promise<void>;
}

/**
 * What a request's body may weigh before the runtime itself cuts it off, in bytes. Above the limit
 * of the routes, so that those get to answer in their own words.
 */
const RUNTIME_BODY_LIMIT = 128 * 1024 * 1024;

interface BunServer {
  readonly port?: number;
  stop(): Promise<void>;
}

interface BunRuntime {
  serve(options: {
    unix?: string;
    hostname?: string;
    port?: number;
    idleTimeout?: number;
    maxRequestBodySize: number;
    development: false;
    fetch: HttpHandler;
    error: () => Response;
  }): BunServer;
}

interface DenoRuntime {
  serve(
    options: { path?: string; hostname?: string; port?: number; onListen(): void },
    handler: HttpHandler,
  ): { readonly addr: { readonly port?: number }; shutdown(): Promise<void> };
}

const broken = () => new Response(null, { status: 500 });

/**
 * Listens. No request is cut off for taking long: Bun's own limit, 10 s unless told otherwise, is
 * off.
 * @throws Error with a `code` such as `EADDRINUSE` when the address cannot be had
 */
export function listenHttp(address: ListenAddress, handler: HttpHandler): HttpListener {
  const { Bun: bun, Deno: deno } = globalThis as { Bun?: BunRuntime; Deno?: DenoRuntime };
  if (bun) return withBun(bun, address, handler);
  if (deno) return withDeno(deno, address, handler);
  throw new Error("this runtime cannot listen: run it with Bun or Deno");
}

function withBun(bun: BunRuntime, address: ListenAddress, handler: HttpHandler): HttpListener {
  const at = address.kind === "unix"
    ? { unix: address.path }
    : { hostname: address.host, port: address.port };
  const server = bun.serve({
    ...at,
    idleTimeout: 0,
    maxRequestBodySize: RUNTIME_BODY_LIMIT,
    development: false,
    fetch: handler,
    error: broken,
  });
  return {
    port: address.kind === "tcp" ? server.port : undefined,
    stop: () => server.stop(),
  };
}

function withDeno(deno: DenoRuntime, address: ListenAddress, handler: HttpHandler): HttpListener {
  const at = address.kind === "unix"
    ? { path: address.path }
    : { hostname: address.host, port: address.port };
  try {
    const server = deno.serve({ ...at, onListen: () => {} }, async (request) => {
      try {
        return await handler(request);
      } catch {
        return broken();
      }
    });
    return {
      port: address.kind === "tcp" ? server.addr.port : undefined,
      stop: () => server.shutdown(),
    };
  } catch (error) {
    throw withCode(error);
  }
}

/** Deno names its errors where others give a code. */
function withCode(error: unknown): Error {
  const { name, message, code } = error as { name: string; message: string; code?: string };
  const codes: Readonly<Record<string, string>> = {
    AddrInUse: "EADDRINUSE",
    AddrNotAvailable: "EADDRNOTAVAIL",
    PermissionDenied: "EACCES",
  };
  return Object.assign(new Error(message), { code: code ?? codes[name] });
}
