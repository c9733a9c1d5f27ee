/** Where and with what a command will run. */
import { isAbsolute, resolve } from "node:path";

/** Where and with what a command will run. */
export interface ProgramPlace {
  /** The hook's environment; its PATH counts. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** The folder we were started in, absolute: relative paths are meant from here (rule 3.2). */
  readonly startFolder: string;
  /** The working folder the hook will get, absolute. */
  readonly cwd: string;
  /** Keep backslashes and leave everything to the system. Default false. */
  readonly windows?: boolean;
}

/** {@link ProgramPlace}, and how a leading `~` is read. */
export interface CommandPlace extends ProgramPlace {
  /** Gives the word with a leading `~` or `~user` replaced, or as it is. */
  readonly expandTilde: (word: string) => string;
}

/** Will the hook's working folder be another than the one relative paths are meant from? */
export function isElsewhere(place: Pick<ProgramPlace, "cwd" | "startFolder">): boolean {
  return resolve(place.cwd) !== resolve(place.startFolder);
}

/**
 * A path meant from `folder`, absolute. Only a `./` is taken off: `link/../x` is what the
 * kernel makes of it, which need not be `x`.
 */
export function anchored(folder: string, path: string): string {
  if (isAbsolute(path)) return path;
  return `${folder.replace(/(?:\/\.?)+$/, "")}/${path.replace(/^(?:\.\/+)+/, "")}`;
}
