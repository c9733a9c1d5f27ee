/** The machines a release is built for. */

/** One downloadable file. */
export interface Target {
  /** As in the file's name: `hermes-hooks-NAME`. */
  readonly name: string;
  /** What Bun's bundler calls it. */
  readonly bun: string;
  /** The npm package that holds Bun for it; the version is in release_runtimes/package.json. */
  readonly runtime: string;
  /** What {@link fileType} must say of the file. */
  readonly type: string;
  /**
   * Whether a machine that builds releases can start it. What cannot be started is built without
   * bytecode: bytecode that does not fit would be noticed by nobody.
   */
  readonly startable: boolean;
}

/** Every target, in the order in which they are built and listed. */
export const TARGETS: readonly Target[] = [
  target("linux-x64", "ELF x64 glibc", "linux-x64", true),
  // The same bytes as linux-x64 as long as Bun ships one x64 runtime for every processor.
  target("linux-x64-baseline", "ELF x64 glibc", "linux-x64-baseline", true),
  target("linux-arm64", "ELF arm64 glibc", "linux-aarch64", false),
  target("linux-x64-musl", "ELF x64 musl", "linux-x64-musl", true),
  target("linux-arm64-musl", "ELF arm64 musl", "linux-aarch64-musl", false),
  target("macos-x64", "Mach-O x64", "darwin-x64", false),
  target("macos-arm64", "Mach-O arm64", "darwin-aarch64", false),
  target("windows-x64", "PE x64", "windows-x64", false),
];

/** What a target's file is called. */
export function fileName({ name }: Target): string {
  return `hermes-hooks-${name}${name.startsWith("windows") ? ".exe" : ""}`;
}

function target(name: string, type: string, runtime: string, startable: boolean): Target {
  const bun = `bun-${runtime.replace("aarch64", "arm64")}`;
  return { name, type, bun, runtime: `@oven/bun-${runtime}`, startable };
}
