/** Which of several names was probably meant. */

/**
 * How many single steps lead from one text to the other: insert, delete or replace a character,
 * or swap two neighbours (Damerau's, optimal string alignment). Case counts.
 */
export function editDistance(a: string, b: string): number {
  const from = [...a], to = [...b];
  let before: number[] = [];
  let last = to.map((_, j) => j);
  last.push(to.length);
  for (let i = 1; i <= from.length; i++) {
    const row = [i];
    for (let j = 1; j <= to.length; j++) {
      const same = from[i - 1] === to[j - 1];
      let steps = Math.min(last[j]! + 1, row[j - 1]! + 1, last[j - 1]! + (same ? 0 : 1));
      if (i > 1 && j > 1 && from[i - 1] === to[j - 2] && from[i - 2] === to[j - 1]) {
        steps = Math.min(steps, before[j - 2]! + 1);
      }
      row.push(steps);
    }
    before = last;
    last = row;
  }
  return last[to.length]!;
}

/** Steps that still count as a slip of the finger: none in the shortest names, three in long ones. */
function allowedSteps(length: number): number {
  if (length < 3) return 0;
  if (length < 6) return 1;
  return length < 18 ? 2 : 3;
}

/**
 * The candidate that was probably meant, or undefined. Case and the separators `-`, `_`, `.`, `:`
 * and space do not count; then the fewest steps win, the earlier candidate on a tie; then the only
 * one that the name is the start or the end of, at a separator.
 */
export function nearest(name: string, candidates: Iterable<string>): string | undefined {
  const list = [...candidates];
  const wanted = plain(name);
  if (!wanted) return undefined;
  const same = list.find((candidate) => plain(candidate) === wanted);
  return same ?? closest(name.toLowerCase(), list) ?? onlyPart(name.toLowerCase(), list);
}

function closest(name: string, list: readonly string[]): string | undefined {
  let best: string | undefined;
  // One step more than allowed, so that the first allowed one is better.
  let fewest = allowedSteps(name.length) + 1;
  for (const candidate of list) {
    if (Math.abs(candidate.length - name.length) >= fewest) continue;
    const steps = editDistance(name, candidate.toLowerCase());
    if (steps < fewest) [best, fewest] = [candidate, steps];
  }
  return best;
}

function onlyPart(name: string, list: readonly string[]): string | undefined {
  if (name.length < 4) return undefined;
  const parts = list.filter((candidate) => {
    const text = candidate.toLowerCase();
    return text.endsWith(`_${name}`) || text.startsWith(`${name}_`);
  });
  return parts.length === 1 ? parts[0] : undefined;
}

/** A name without case and separators: how names are compared when only the spelling differs. */
export function plain(name: string): string {
  return name.toLowerCase().replace(/[-_.:\s]/g, "");
}
