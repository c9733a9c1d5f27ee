/** Everything ambient, brought in through one value: nothing below the doors reads `process`. */

/** Where one run stands. Two contexts in one process never see each other's homes (rule 1.1). */
export interface Context {
  /** The home folder, absolute. */
  readonly home: string;
  /** The config file, absolute; `<home>/config.yaml` unless `--config` named another. */
  readonly configFile: string;
  /** The profile's name (rule 1.4). */
  readonly profile: string;
  /** The process environment, then `<home>/.env` for what it lacks (rule 1.3). */
  readonly env: Readonly<Record<string, string>>;
  /** The folder we were started in, absolute: relative commands resolve against it (rule 3.2). */
  readonly startFolder: string;
  /** Now. */
  readonly now: () => Date;
  /** One line for the log; `debug` lines are shown only when asked for. */
  readonly log: (level: "debug" | "info" | "warning" | "error", line: string) => void;
}
