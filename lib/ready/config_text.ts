/** The config that a new home starts with. */

/** Nothing in it is on. Lines with `##` explain; without their `# ` the others are a config. */
export const CONFIG_TEXT =
  `## The config of this home, read by hermes-hooks. Every line is off: take "# " away to turn it on.
## What an event carries and which answers count: hermes-hooks events EVENT
## Ready-made hooks: hermes-hooks init --list
## After a change: hermes-hooks list, then hermes-hooks doctor

## Shell hooks: programs that are run on an event, with its fields as JSON on stdin. Each must be
## approved once: hermes-hooks allow COMMAND
# hooks:
#   pre_tool_call:
#     ## A regular expression of Python's that the tool's whole name must match; without: every tool.
#     - matcher: "terminal|write_file"
#       ## Split into words as a shell does, and run without one: no variables, pipes or globs.
#       command: "~/.hermes/agent-hooks/check.sh --strict"
#       ## Seconds; default 60, at most 300.
#       timeout: 10
#       ## A gate: when it fails, the tool call is blocked. Default false.
#       fail_closed: true
#   post_tool_call:
#     - matcher: "write_file|patch"
#       command: "~/.hermes/agent-hooks/auto-format.sh"

##   Outbound webhooks: events sent as signed POSTs.
#   outbound:
#     - name: ci-notify
#       url: https://ci.example.com/hermes-events
#       events: [on_session_end, subagent_stop]
#       ## The variable, of the environment or .env, that holds the secret to sign with.
#       secret_env: HERMES_OUTBOUND_WEBHOOK_SECRET

## Approve every configured hook without asking. Leave it off where others can write this file.
# hooks_auto_accept: false

## Plugins: folders of plugins/ by name.
# plugins:
#   enabled: []
`;
