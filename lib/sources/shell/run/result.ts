/** What running one process came to. */

/**
 * The end of one process, as data. One of `exitCode` and `signal` is null; both are when its end
 * was not seen. `timedOut` and `aborted` count first: a process may answer TERM with exit 0.
 */
export interface ProcessResult {
  /** Its exit code; null when a signal ended it, or when its end was not seen. */
  readonly exitCode: number | null;
  /** The signal that ended it, such as `SIGKILL`. */
  readonly signal: string | null;
  /** Decoded as UTF-8 with replacement; at most {@link OUTPUT_LIMIT} bytes of it. */
  readonly stdout: string;
  readonly stderr: string;
  /** More came on stdout than is kept (rule 3.5). */
  readonly stdoutOver: boolean;
  readonly stderrOver: boolean;
  /** It was still running when its time was up, and was killed. */
  readonly timedOut: boolean;
  /** It was killed, or never started, because the caller or the user gave up. */
  readonly aborted: boolean;
  /** Why it could not be started, in one line; then it has neither code, signal nor output. */
  readonly spawnError?: string;
  /** Wall time from the start to the answer, in ms. */
  readonly durationMs: number;
}
