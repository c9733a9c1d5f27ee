/** Our own program as a file that shells find by its name. */
import fs from "node:fs";
import path from "node:path";
import process from "node:process";
import { SELF } from "./host_home.ts";

/** Writes an executable script that runs our own program, with the folder it stands in. */
export function putOnPath(file: string): void {
  // A test gives its programs another HOME; Deno would look for its packages below that one.
  const { DENO_DIR, HOME = "" } = process.env;
  const packages = `DENO_DIR=${DENO_DIR ?? path.join(HOME, ".cache/deno")}`;
  const own = "Deno" in globalThis ? ["/usr/bin/env", packages] : [];
  const words = [...own, SELF.file, ...SELF.args].map((word) => `'${word}'`).join(" ");
  fs.mkdirSync(path.dirname(file), { recursive: true });
  fs.writeFileSync(file, `#!/bin/sh\nexec ${words} "$@"\n`, { mode: 0o755 });
}
