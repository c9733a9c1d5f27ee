/** The outbound targets of a registry: none under safe mode (rule 6.7). */
import type { Registry } from "../dispatch/registry.ts";
import { readTargets, type Targets } from "../outbound/target.ts";

/** Reads them; the disabled ones too. */
export function targetsOf({ root, context, safeMode }: Registry): Targets {
  if (safeMode) return { targets: [], problems: [] };
  return readTargets(root, context.configFile, context.env);
}
