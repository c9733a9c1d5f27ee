/** Findings as SARIF 2.1.0, for code hosts. */
import path from "node:path";
import { pathToFileURL } from "node:url";
import { VERSION } from "../../version.ts";
import type { Checked, Finding } from "./finding.ts";
import { KINDS } from "./kinds.ts";

/** Relative to the working folder, with forward slashes; a file elsewhere by its whole URL. */
function uriOf(file: string, folder: string): string {
  const relative = path.relative(folder, file);
  if (relative === "") return ".";
  if (relative.startsWith("..") || path.isAbsolute(relative)) return pathToFileURL(file).href;
  return relative.split(path.sep).map(encodeURIComponent).join("/");
}

/** In a message braces are placeholders and `[text](target)` is a link: neither is meant. */
function messageText(text: string): string {
  return text.replace(/[{}]/g, "$&$&").replace(/\[(?=[^[\]]*\]\()/g, "\\[");
}

const names = Object.keys(KINDS);

function resultOf(finding: Finding, folder: string) {
  const { kind, level, file, path: where, line, column, message } = finding;
  const region = { startLine: line, ...(column !== undefined && { startColumn: column }) };
  return {
    ruleId: kind,
    ruleIndex: names.indexOf(kind),
    level,
    message: { text: messageText(where ? `${where}: ${message}` : message) },
    locations: [{
      physicalLocation: {
        artifactLocation: { uri: uriOf(file, folder) },
        ...(line !== undefined && { region }),
      },
      ...(where && { logicalLocations: [{ fullyQualifiedName: where }] }),
    }],
  };
}

/**
 * The log, as plain data.
 * @param folder the working folder, absolute: what the files' URIs are relative to
 */
export function sarifLog({ files, findings }: Checked, folder: string) {
  return {
    $schema: "https://json.schemastore.org/sarif-2.1.0.json",
    version: "2.1.0",
    runs: [{
      tool: {
        driver: {
          name: "hermes-hooks",
          version: VERSION,
          rules: Object.entries(KINDS).map(([id, { about, rules }]) => ({
            id,
            shortDescription: { text: messageText(about) },
            properties: { rules: `docs/behaviour.md, ${rules}` },
          })),
        },
      },
      // The columns of our reader are code points.
      columnKind: "unicodeCodePoints",
      artifacts: files.map((file) => ({ location: { uri: uriOf(file, folder) } })),
      results: findings.map((finding) => resultOf(finding, folder)),
    }],
  };
}
