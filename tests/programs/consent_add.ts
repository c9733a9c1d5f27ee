/** Records `count` approvals, one write each, in the allowlist `file`, under names with `label`. */

import process from "node:process";
import { recordApproval } from "../../lib/consent/approval.ts";

const [file, label, count] = process.argv.slice(2);
for (let n = 0; n < Number(count); n++) {
  const approval = { event: "pre_tool_call", command: `${label} ${n}`, via: "allow" } as const;
  const problem = await recordApproval(file!, approval, { now: new Date(), waitMs: 60_000 });
  if (problem) {
    console.error(problem.message);
    process.exit(1);
  }
}
