/** Signals that whoever started us had us ignore: `nohup`, a script's background job. */
import { readFileSync } from "node:fs";
import { constants } from "node:os";

/**
 * Their names. Asked before anything listens to one: a listener takes its place, and its removal
 * does not bring it back. Known on Linux only; elsewhere none.
 */
export function ignoredSignals(): ReadonlySet<string> {
  const mask = maskOf(readStatus());
  const names = Object.entries(constants.signals).filter(([, number]) =>
    (mask >> BigInt(number - 1)) & 1n
  );
  return new Set(names.map(([name]) => name));
}

function maskOf(status: string): bigint {
  const hex = /^SigIgn:\s*([0-9a-f]+)$/m.exec(status)?.[1];
  return hex === undefined ? 0n : BigInt(`0x${hex}`);
}

function readStatus(): string {
  try {
    return readFileSync("/proc/self/status", "latin1");
  } catch {
    return "";
  }
}
