/** A YAML file as PyYAML's `safe_load` reads it (rule 1.2), knowing its lines. */

import { Composer, type CST, type ParsedNode, Parser, type YAMLParseError } from "yaml";
import { type Fail, type Locate, locatorOf, type Shifts, YamlSyntaxError } from "./yaml_error.ts";
import type { YamlFile } from "./yaml_file.ts";
import { indentRegion } from "./yaml_repair.ts";
import { checkText, normalize } from "./yaml_source.ts";
import { checkTokens } from "./yaml_tokens.ts";
import { TreeBuilder } from "./yaml_tree.ts";

export { YamlSyntaxError } from "./yaml_error.ts";

/** A text that passed the scanner's rules, with its tokens. */
interface Scanned {
  readonly text: string;
  readonly tokens: readonly CST.Token[];
  readonly locate: Locate;
  readonly fail: Fail;
}

/**
 * Reads one YAML document the way PyYAML's `safe_load` does: its 1.1 scalars, tags, merges and
 * duplicate keys (the last wins, with a warning). Beyond it, aliases that recurse or stand for more
 * than 100,000 values and nesting over 200 levels are refused.
 * @param text the file's text; a BOM and any line endings are fine
 * @param file its name, for problems and errors
 * @throws YamlSyntaxError for what `safe_load` would not load
 */
export function readYaml(text: string, file: string): YamlFile {
  const scanned = scan(normalize(text), file);
  const contents = compose(scanned);
  if (!contents) return { root: undefined, problems: [] };
  const builder = new TreeBuilder(scanned.text, file, scanned.locate, scanned.fail);
  return { root: builder.build(contents), problems: builder.problems };
}

/** More brackets and quotes than this that need other indentation are refused, not repaired. */
const MAX_REPAIRS = 50;

function scan(source: string, file: string): Scanned {
  const shifts: Shifts = new Map();
  const tried = new Set<number>();
  for (let text = source;;) {
    const locate = locatorOf(text, shifts);
    const fail: Fail = (message, offset) => {
      const { line, column } = locate(offset);
      throw new YamlSyntaxError(message, file, line, column);
    };
    if (text === source) checkText(text, fail);
    const tokens = [...new Parser().parse(text)];
    const { open, fault } = checkTokens(tokens, text);
    if (open === undefined) {
      if (fault) fail(fault.message, fault.offset);
      return { text, tokens, locate, fail };
    }
    const again = tried.size >= MAX_REPAIRS || tried.has(open);
    const repaired = again ? undefined : indentRegion(text, open, shifts);
    if (repaired === undefined) {
      fail(`this ${text[open] === '"' ? "double quote" : `"${text[open]}"`} is not closed`, open);
    }
    tried.add(open);
    text = repaired;
  }
}

function compose({ text, tokens, fail }: Scanned): ParsedNode | null {
  const composer = new Composer({
    version: "1.1",
    schema: "failsafe",
    merge: false,
    uniqueKeys: false,
    resolveKnownTags: false,
    prettyErrors: false,
    logLevel: "error",
  });
  const [doc, second] = composer.compose(tokens, true, text.length);
  const error = doc?.errors.find(({ message }) => !message.startsWith(TOLERATED));
  if (error) fail(messageOf(error), error.pos[0]);
  if (second) fail("a second document, a config has one", second.range[0]);
  return doc?.contents ?? null;
}

/** PyYAML sees a comment in `"a"#b` and `[a,#b`. */
const TOLERATED = "Comments must be separated";

/** The parser's message in our words. */
function messageOf({ code, message }: YAMLParseError): string {
  if (code === "BLOCK_AS_IMPLICIT_KEY") return '":" is not allowed here, put the value in quotes';
  if (message.startsWith("Implicit map keys")) return 'expected ":" and a value after this key';
  const own = message.slice(0, 1).toLowerCase() + message.slice(1);
  return code === "BAD_SCALAR_START" ? `${own}, put it in quotes` : own;
}
