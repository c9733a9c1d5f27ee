/** Makes the hosts of gateway hooks; what is in them is loaded only where there are any. */
import type { Context } from "../context.ts";
import type { MakeHost } from "../sources/gateway/live_hook.ts";

/** Hosts that are started by this very program and log where the context does. */
export async function gatewayHosts({ log }: Pick<Context, "log">): Promise<MakeHost> {
  const [{ createHost }, { selfCommand }] = await Promise.all([
    import("../sources/host/create.ts"),
    import("../platform/self.ts"),
  ]);
  const options = { self: selfCommand(), log: (line: string, level: Level) => log(level, line) };
  return (spec) => createHost(spec, options);
}

type Level = Parameters<Context["log"]>[0];
