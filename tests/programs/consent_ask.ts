/**
 * Asks about as many hooks as the first argument says and writes the answers to a file (second
 * argument). Then the mode: `listener` listens for Ctrl-C itself, `listener` and `waits` wait for
 * one at the end, `piped` has a payload on stdin.
 */

import * as fs from "node:fs";
import process from "node:process";
import { isatty } from "node:tty";
import { askOnTerminal } from "../../lib/consent/prompt.ts";
import { openTerminal, terminalAvailable } from "../../lib/platform/tty.ts";

const [count, report, mode] = process.argv.slice(2);
const say = (line: string) => fs.appendFileSync(report!, line + "\n");
if (mode === "listener") {
  process.once("SIGINT", () => {
    say("own listener");
    process.exit(7);
  });
}

const facts = { stdinTty: isatty(0), stderrTty: isatty(2), stdinInUse: mode === "piped" };
const terminal = terminalAvailable(facts) ? openTerminal(facts) : undefined;
if (!terminal) say("no terminal");
else {
  for (let n = 0; n < Number(count); n++) {
    const hook = { event: "pre_tool_call", command: `/h/g.sh ${n}\u001b[2J`, script: "/h/g.sh" };
    say((await askOnTerminal(terminal, hook)) ? "yes" : "no");
  }
  terminal.close();
}
if (mode === "piped") say(`stdin ${fs.readFileSync(0, "utf8")}`);
say("done");
if (mode === "waits" || mode === "listener") {
  console.log("waiting");
  setTimeout(() => say("nothing ended it"), 5000);
}
