/**
 * boot-md: when the gateway starts, gives the checklist in <home>/BOOT.md to an agent, once and in
 * the background, and logs how it went.
 *
 * Needs:  HERMES_BOOT_AGENT_COMMAND  the agent's command, such as `claude -p`: it reads a prompt on
 *                                    stdin, does what it says, and prints its answer. Split at
 *                                    spaces (quotes keep words together), run without a shell, in
 *                                    the home
 * Can be: HERMES_BOOT_WAIT=1         the handler waits for the agent: to try it by hand with
 *                                    hermes-hooks gateway emit gateway:startup, which would end
 *                                    an agent that is left in the background
 *
 * Both from the environment of the listener or <home>/.env. No BOOT.md, or an empty one: nothing
 * happens. An answer that is only [SILENT], SILENT, NO_REPLY or NO REPLY is nothing to report.
 */
import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import process from "node:process";

const SILENT = ["[SILENT]", "SILENT", "NO_REPLY", "NO REPLY", ""];
/** How much of an answer, or of an error, is logged, in characters. */
const SHOWN = 200;
/** How much of an answer is kept, in characters. */
const KEPT = 1_000_000;

let running = false;

/** Starts the agent and returns; a second start of the gateway does not disturb a running one. */
export async function handle(): Promise<void> {
  const home = process.env["HERMES_HOME"] || path.join(os.homedir(), ".hermes");
  const checklist = readChecklist(path.join(home, "BOOT.md"));
  if (checklist === "" || running) return;
  console.log(`Running BOOT.md (${[...checklist].length} chars)`);
  running = true;
  const done = runAgent(promptFor(checklist), home).then(
    (answer) => console.log(report(answer)),
    (error) => console.error(`boot-md agent failed: ${shown((error as Error).message)}`),
  ).finally(() => running = false);
  if (process.env["HERMES_BOOT_WAIT"] === "1") await done;
}

function readChecklist(file: string): string {
  try {
    return readFileSync(file, "utf8").replace(/^\ufeff/, "").trim();
  } catch (error) {
    if ((error as { code?: string }).code === "ENOENT") return "";
    throw error;
  }
}

function promptFor(checklist: string): string {
  return `The gateway has just started. Work through this checklist, item by item:

<checklist>
${checklist}
</checklist>

What a person should know goes into your final answer, and only there: it is passed on for you, so
send no messages yourself. If there is nothing that needs attention, answer with [SILENT] and
nothing else.
`;
}

function report(answer: string): string {
  const text = answer.trim();
  if (SILENT.includes(text.toUpperCase())) return "boot-md completed (nothing to report)";
  return `boot-md completed: ${shown(text)}`;
}

/** The start of a text, on one line. */
function shown(text: string): string {
  return [...text.trim()].slice(0, SHOWN).join("").replace(/\s*[\r\n]+\s*/g, " ");
}

/** The words of a command: split at spaces, but not inside quotes or after a backslash. */
function wordsOf(command: string): string[] {
  const words: string[] = [];
  let word: string | undefined, quote = "";
  for (let i = 0; i < command.length; i++) {
    const c = command[i]!;
    if (c === "\\" && quote !== "'") word = (word ?? "") + (command[++i] ?? "");
    else if (quote !== "" ? c === quote : c === '"' || c === "'") {
      quote = quote === "" ? c : "";
      word ??= "";
    } else if (quote === "" && /\s/.test(c)) {
      if (word !== undefined) words.push(word);
      word = undefined;
    } else word = (word ?? "") + c;
  }
  if (quote !== "") throw new Error("HERMES_BOOT_AGENT_COMMAND has a quote that is not closed");
  return word === undefined ? words : [...words, word];
}

/** Runs the agent with the prompt on stdin; gives what it printed, or throws why it failed. */
async function runAgent(prompt: string, home: string): Promise<string> {
  const words = wordsOf(process.env["HERMES_BOOT_AGENT_COMMAND"] ?? "");
  const [program, ...args] = words.map((word) => word.replace(/^~(?=\/|$)/, os.homedir()));
  if (program === undefined) {
    throw new Error(
      "HERMES_BOOT_AGENT_COMMAND is not set: the command that reads a prompt on stdin",
    );
  }
  return await new Promise((resolve, reject) => {
    const agent = spawn(program, args, { cwd: home, stdio: "pipe" });
    const said = { stdout: "", stderr: "" };
    for (const name of ["stdout", "stderr"] as const) {
      agent[name].setEncoding("utf8").on("data", (text: string) => {
        said[name] = (said[name] + text).slice(0, KEPT);
      });
    }
    // An agent that does not read its prompt to the end is no failure.
    agent.stdin.on("error", () => {});
    agent.stdin.end(prompt);
    agent.on(
      "error",
      (error: { code?: string; message: string }) =>
        reject(new Error(error.code === "ENOENT" ? `"${program}" is not found` : error.message)),
    );
    agent.on("close", (code, signal) => {
      if (code === 0) return resolve(said.stdout);
      const why = said.stderr.trim();
      reject(new Error(`${signal ?? `exit code ${code}`}${why === "" ? "" : `: ${why}`}`));
    });
  });
}
