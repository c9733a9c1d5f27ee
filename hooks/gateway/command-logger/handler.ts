/**
 * command-logger: one JSON line for each slash command, in <home>/logs/command_usage.jsonl.
 *
 * Needs nothing. The file is readable by you alone, since what people type after a command may be
 * secret; it is never cut, so let logrotate or the like look after it.
 *
 * A line: {"ts", "command", "args", "platform", "user"}.
 */
import { appendFile, mkdir } from "node:fs/promises";
import os from "node:os";
import path from "node:path";
import process from "node:process";

interface Command {
  readonly command?: string;
  readonly args?: string;
  readonly platform?: string;
  readonly user_id?: string;
}

/** Called for every command; returns nothing, so the command goes on. */
export async function handle(_event: string, context: Command): Promise<void> {
  const home = process.env["HERMES_HOME"] || path.join(os.homedir(), ".hermes");
  const file = path.join(home, "logs", "command_usage.jsonl");
  const { command = null, args = null, platform = null, user_id: user = null } = context;
  const line = JSON.stringify({ ts: new Date().toISOString(), command, args, platform, user });
  await mkdir(path.dirname(file), { recursive: true, mode: 0o700 });
  await appendFile(file, `${line}\n`, { mode: 0o600 });
}
