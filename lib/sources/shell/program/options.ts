/** The options of programs that run another program or a script, as far as we must know them. */

/** Which options a program takes before its first word that is no option. */
export interface OptionTable {
  /** Letters that take no value. Any letter in neither list: nothing is sure from there on. */
  readonly flags: string;
  /** Letters that take a value: the rest of their word, else the next word. */
  readonly values?: string;
  /** Shells: the value is the next word, also for a letter inside a cluster (`-euo pipefail`). */
  readonly valuesApart?: true;
  /** Shells: `+x` is an option as well. */
  readonly plus?: true;
  readonly longFlags?: readonly string[];
  readonly longValues?: readonly string[];
  /** How many words stand before the one meant, as timeout's duration does. */
  readonly skip?: number;
}

const SHELL: OptionTable = {
  flags: "abefhiklmnprtuvxBCEHPT",
  values: "oO",
  valuesApart: true,
  plus: true,
  longFlags: ["login", "norc", "noprofile", "posix", "restricted", "verbose", "noediting"],
  longValues: ["rcfile", "init-file"],
};

// Left out, and so never sure: what takes code or a module (rule 3.9), and what reads no script.
const PYTHON: OptionTable = {
  flags: "bBdEiIOPqRsStuvx",
  values: "WX",
  longValues: ["check-hash-based-pycs"],
};
const NODE: OptionTable = {
  flags: "",
  values: "rC",
  longFlags: [
    "enable-source-maps",
    "no-deprecation",
    "no-warnings",
    "preserve-symlinks",
    "preserve-symlinks-main",
    "throw-deprecation",
    "trace-deprecation",
    "trace-uncaught",
    "trace-warnings",
  ],
  longValues: ["require", "import", "loader", "experimental-loader", "conditions", "env-file"],
};
const RUBY: OptionTable = { flags: "UWadlnpw", values: "rI" };
const PERL: OptionTable = { flags: "TUWXacntpuw", values: "I" };

/** The table of an interpreter that takes a script, by its file's name; undefined for others. */
export function interpreterOptions(name: string): OptionTable | undefined {
  if (/^(?:sh|dash|bash|ksh|zsh)$/.test(name)) return SHELL;
  if (/^python[0-9.]*$/.test(name)) return PYTHON;
  if (name === "node") return NODE;
  if (name === "ruby") return RUBY;
  if (name === "perl") return PERL;
  return undefined;
}

/** The table of a program that starts the rest of its words as a program; undefined for others. */
export function wrapperOptions(name: string): OptionTable | undefined {
  return Object.hasOwn(WRAPPERS, name) ? WRAPPERS[name] : undefined;
}

const WRAPPERS: Readonly<Record<string, OptionTable>> = {
  nohup: { flags: "" },
  setsid: { flags: "cfw", longFlags: ["ctty", "fork", "wait"] },
  nice: { flags: "", values: "n", longValues: ["adjustment"] },
  ionice: { flags: "t", values: "cn", longFlags: ["ignore"], longValues: ["class", "classdata"] },
  stdbuf: { flags: "", values: "ioe", longValues: ["input", "output", "error"] },
  timeout: {
    flags: "fpv",
    values: "ks",
    longFlags: ["foreground", "preserve-status", "verbose"],
    longValues: ["kill-after", "signal"],
    skip: 1,
  },
};

/**
 * The place of the first word from `from` on that is no option, past `skip` more; undefined when
 * there is none, or an option in front of it is not in the table, so that nothing is sure.
 */
export function firstWord(
  words: readonly string[],
  from: number,
  table: OptionTable,
): number | undefined {
  let at = from;
  while (at < words.length) {
    const word = words[at]!;
    if (word === "--") {
      at++;
      break;
    }
    if (!word.startsWith("-") && !(table.plus && word.startsWith("+"))) break;
    const taken = word.startsWith("--") ? longOption(word, table) : cluster(word, table);
    if (taken === undefined) return undefined;
    at += taken;
  }
  at += table.skip ?? 0;
  return at < words.length ? at : undefined;
}

/** How many words a `--long` option takes up. */
function longOption(word: string, table: OptionTable): number | undefined {
  const [name = "", value] = word.slice(2).split("=", 2);
  if (table.longFlags?.includes(name)) return 1;
  if (table.longValues?.includes(name)) return value === undefined ? 2 : 1;
  return undefined;
}

/** How many words a cluster of letters takes up. A lone `-` is none that we know. */
function cluster(word: string, table: OptionTable): number | undefined {
  if (word.length < 2) return undefined;
  let taken = 1;
  for (let i = 1; i < word.length; i++) {
    const letter = word[i]!;
    if (table.flags.includes(letter)) continue;
    if (!table.values?.includes(letter)) return undefined;
    if (!table.valuesApart) return i + 1 < word.length ? 1 : 2;
    taken++;
  }
  return taken;
}
