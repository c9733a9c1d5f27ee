/**
 * `host LABEL`: what a plugin or gateway hook in TypeScript or JavaScript runs in. Not for people:
 * it is not in the help, and without the private pipe it ends at once.
 */
import process from "node:process";
import { endWithStarter, openHostPipe } from "../platform/host_pipe.ts";
import { MessageReader } from "../sources/host/message.ts";
import { ScriptProgram } from "../sources/host/script_program.ts";
import { UsageError } from "./args.ts";

/** Runs it until its pipe is at its end. */
export async function host(): Promise<number> {
  const pipe = await openHostPipe();
  if (!pipe) throw new UsageError("host is started by hermes-hooks itself");
  endWithStarter();
  const program = new ScriptProgram((line) => pipe.send(line));
  const reader = new MessageReader();
  // A promise nobody waits for must not take the plugin's other hooks down.
  process.on("unhandledRejection", (error) => program.stray(error));
  process.on("uncaughtException", (error) => program.stray(error));
  await new Promise<void>((resolve) => {
    pipe.listen((bytes) => {
      for (const message of reader.read(bytes)) program.take(message);
    }, resolve);
  });
  endGroup();
  return 0;
}

/** What the hook started goes with it, as when the host is closed. */
function endGroup(): void {
  try {
    process.once("SIGTERM", () => process.exit(0));
    process.kill(-process.pid, "SIGTERM");
  } catch {
    // Not the leader of a group: there is nothing of ours to end.
  }
}
