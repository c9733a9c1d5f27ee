/** The ready-made hooks, as they stand in hooks/. Written by scripts/embed.ts: do not edit. */
import file0 from "../../hooks/auto-format.sh" with { type: "text" };
import file1 from "../../hooks/block-rm-rf.sh" with { type: "text" };
import file2 from "../../hooks/inject-cwd-context.sh" with { type: "text" };
import file3 from "../../hooks/log-orchestration.sh" with { type: "text" };
import file4 from "../../hooks/secret-scan.sh" with { type: "text" };
import file5 from "../../hooks/gateway/boot-md/HOOK.yaml" with { type: "text" };
import file6 from "../../hooks/gateway/boot-md/handler.ts" with { type: "text" };
import file7 from "../../hooks/gateway/command-logger/HOOK.yaml" with { type: "text" };
import file8 from "../../hooks/gateway/command-logger/handler.ts" with { type: "text" };
import file9 from "../../hooks/gateway/long-task-alert/HOOK.yaml" with { type: "text" };
import file10 from "../../hooks/gateway/long-task-alert/handler.ts" with { type: "text" };
import file11 from "../../hooks/gateway/session-webhook/HOOK.yaml" with { type: "text" };
import file12 from "../../hooks/gateway/session-webhook/handler.ts" with { type: "text" };

/** The text of `hooks/<name>.sh`, by name. */
export const SHELL_FILES: Readonly<Record<string, string>> = {
  "auto-format": file0,
  "block-rm-rf": file1,
  "inject-cwd-context": file2,
  "log-orchestration": file3,
  "secret-scan": file4,
};

/** The texts of the files of `hooks/gateway/<name>/`, by name, then by path in that folder. */
export const GATEWAY_FILES: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  "boot-md": {
    "HOOK.yaml": file5,
    "handler.ts": file6,
  },
  "command-logger": {
    "HOOK.yaml": file7,
    "handler.ts": file8,
  },
  "long-task-alert": {
    "HOOK.yaml": file9,
    "handler.ts": file10,
  },
  "session-webhook": {
    "HOOK.yaml": file11,
    "handler.ts": file12,
  },
};
