/** An environment that can be handed to a process whatever is in it. */

/** Without what no process can hold: names that are empty or hold `=` or NUL, values with NUL. */
export function usableEnv(
  env: Readonly<Record<string, string | undefined>>,
): Record<string, string> {
  return Object.fromEntries(
    Object.entries(env).filter((entry): entry is [string, string] => canHold(...entry)),
  );
}

function canHold(name: string, value: string | undefined): boolean {
  return value !== undefined && name !== "" && !/[=\0]/.test(name) && !value.includes("\0");
}
