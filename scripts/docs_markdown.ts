/** The few pieces of Markdown that the generated references are put together from. */

/** The first lines of a generated page. */
export function pageHead(title: string): string {
  return `<!-- written by scripts/docs: do not edit -->\n\n# ${title}\n`;
}

/** Text as code. */
export const code = (text: string) => text.includes("`") ? `\`\` ${text} \`\`` : `\`${text}\``;

/** Text with nothing in it that Markdown or HTML would take for its own, but code. */
function plain(text: string): string {
  return text.replace(
    /`[^`]*`|[<*]/g,
    (part) => part === "<" ? "&lt;" : part === "*" ? "\\*" : part,
  );
}

const cell = (text: string) => plain(text).replaceAll("|", "\\|").replaceAll("\n", " ");
const width = (text: string) => [...text].length;

/** A table with its columns lined up. */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const cells = [head, ...rows].map((row) => row.map(cell));
  const widths = head.map((_, at) => Math.max(3, ...cells.map((row) => width(row[at]!))));
  const padded = (text: string, at: number) => text + " ".repeat(widths[at]! - width(text));
  const lines = cells.map((row) => `| ${row.map(padded).join(" | ")} |`);
  const rule = `| ${widths.map((each) => "-".repeat(each)).join(" | ")} |`;
  return [lines[0], rule, ...lines.slice(1)].join("\n");
}

/** A block of code. */
export const block = (language: string, text: string) => `\`\`\`${language}\n${text}\n\`\`\``;

/** Prose in lines of at most 100 characters, as `deno fmt` breaks it: never inside code. */
export function wrap(text: string, indent = ""): string {
  const lines: string[] = [];
  let line = "";
  for (const word of plain(text).match(/(?:`[^`]*`|[^`\s])+/g) ?? []) {
    const longer = line ? `${line} ${word}` : word;
    if (line && width(indent + longer) > 100) {
      lines.push(line);
      line = word;
    } else line = longer;
  }
  return [...lines, line].join(`\n${indent}`);
}

/** A list. */
export function list(items: readonly string[]): string {
  return items.map((item) => `- ${wrap(item, "  ")}`).join("\n");
}
