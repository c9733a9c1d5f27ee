/** The kinds of problems `config check` finds: stable names for `--json`, SARIF and filters. */
import type { Problem } from "../../events/problem.ts";

/** What a kind is about. */
export interface Kind {
  /** One sentence, for a code host. */
  readonly about: string;
  /** The rules of docs/behaviour.md it comes from. */
  readonly rules: string;
}

/** Every kind by its name. A name is never given another meaning. */
export const KINDS = {
  "yaml-syntax": { about: "The file is no YAML that can be read.", rules: "1.2" },
  "unreadable": { about: "The file is not there or cannot be read.", rules: "1.2" },
  "unarmed-gate": { about: "A fail_closed hook will not run.", rules: "2.6, 6.5" },
  "duplicate-key": { about: "A key stands twice in one mapping; the last wins.", rules: "1.2" },
  "unset-variable": { about: "A ${NAME} refers to a variable that is not set.", rules: "1.2b" },
  "unknown-key": { about: "A key is read by nobody.", rules: "1.5, 2.7, 10.1" },
  "unknown-event": { about: "A name is no event that can stand here.", rules: "2.1, 9.2, 10.1" },
  "hook-entry": { about: "A hook's entry is skipped or read otherwise.", rules: "2.2-2.8" },
  "matcher": { about: "A matcher does not do what it may be meant to.", rules: "2.4" },
  "hook-command": { about: "A hook's command cannot be started.", rules: "3.1, 3.9" },
  "outbound-target": { about: "A webhook is skipped, off or read otherwise.", rules: "10.1" },
  "outbound-secret": { about: "A webhook's secret cannot be used: it is off.", rules: "10.1" },
  "plugin": { about: "A plugin is not loaded or read otherwise.", rules: "8.1" },
  "gateway-hook": { about: "A gateway hook is not loaded or read otherwise.", rules: "9.1, 9.2" },
  "setting": { about: "A setting has a value it cannot have.", rules: "1.6" },
  "allowlist": { about: "The allowlist does not approve what it should.", rules: "6.2" },
  "writable-by-others": { about: "Others can change what runs.", rules: "6.2" },
  "not-checked": { about: "Something that only the machine in use can say.", rules: "1.2b, 10.1" },
} as const satisfies Readonly<Record<string, Kind>>;

/** The name of a kind. */
export type KindName = keyof typeof KINDS;

/** What says which kind a problem is; the first that fits counts. */
const SIGNS: readonly (readonly [KindName, (problem: Problem) => boolean])[] = [
  ["yaml-syntax", ({ path, column }) => path === "" && column !== undefined],
  ["yaml-syntax", ({ message }) => /is not loaded: HOOK\.yaml:\d+:\d+: /.test(message)],
  ["duplicate-key", ({ message }) => message.startsWith("duplicate key ")],
  ["unset-variable", ({ message }) => / is not set, the reference stays as it is/.test(message)],
  ["unknown-event", ({ message }) => /^(?:plugin "[^"]*": )?unknown event /.test(message)],
  ["unknown-key", ({ message }) => message.startsWith("unknown key ")],
  ["allowlist", ({ file }) => file.endsWith("shell-hooks-allowlist.json")],
  ["gateway-hook", ({ file }) => file.endsWith("HOOK.yaml")],
  ["plugin", ({ message }) => /^(?:no )?plugin "/.test(message)],
  ["outbound-secret", ({ path }) => /^hooks\.outbound\[\d+\]\.secret/.test(path)],
  ["outbound-target", ({ path }) => /^hooks\.outbound(?![^[.])/.test(path)],
  ["setting", ({ path }) => path.startsWith("hooks.output_spill")],
  ["matcher", ({ path }) => /^hooks\..*\.matcher$/.test(path)],
  ["hook-entry", ({ path }) => /^hooks(?![^[.])/.test(path)],
  ["plugin", ({ path }) => path.startsWith("plugins.enabled")],
];

/** The kind of a problem as the loaders report it. */
export function kindOf(problem: Problem): KindName {
  return SIGNS.find(([, fits]) => fits(problem))?.[0] ??
    (problem.path === "" ? "unreadable" : "setting");
}
