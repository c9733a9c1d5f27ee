/** `help TOPIC`: what no single command explains. */

/** By topic. */
export const TOPICS: Readonly<Record<string, string>> = {
  config: `config: <home>/config.yaml, read as PyYAML reads it

hooks:
  pre_tool_call:                    # an event; hermes-hooks events lists them
    - command: ~/hooks/check.sh     # split like a shell splits, run without one
      matcher: "terminal|write_.*"  # Python re, full match against the tool's name; optional
      timeout: 10                   # seconds; default 60, at most 300
      fail_closed: true             # a failure of this hook blocks; default false
  outbound:                         # webhooks
    - url: https://example.com/hook
      events: [on_session_end]
      secret_env: WEBHOOK_SECRET    # signed with it; unset: nothing is sent
plugins:
  enabled: [guard]                  # folders of <home>/plugins
hooks_auto_accept: false            # true: hooks need no approval
hermes_hooks:
  outbound:
    queue: sqlite                   # keep deliveries until they are made; default memory
  serve:
    listen: 127.0.0.1:8645          # the listener, on TCP too

\${NAME} in any text is replaced from the environment, then from <home>/.env. The home is --home,
else $HERMES_HOME, else ~/.hermes.

To check one:     hermes-hooks config check
For an editor:    hermes-hooks schema
`,
  payloads: `payloads: what a hook reads on stdin

One JSON object, its keys in this order:
  hook_event_name   the event
  tool_name         the tool, or null off tool events
  tool_input        the tool's arguments, when they are an object; else null
  session_id        a string, empty when there is none
  cwd               the folder of the event
  profile           the home's profile
  extra             every other field of the event, in its order

fire takes it in this form, or bare: {"tool_name": …, "args": {…}, "session_id": …}. Digits are kept
(a 64-bit id stays what it is), and so is the order of keys.

What an event carries:       hermes-hooks events pre_tool_call
A made-up one, run through:  hermes-hooks test pre_tool_call --for-tool terminal
As a JSON Schema:            hermes-hooks schema payload pre_tool_call
`,
  answers: `answers: what a hook may say on stdout

pre_tool_call
  {"action": "block", "message": "why"}        also "deny"; exit code 2 blocks too, with stderr
  {"action": "approve", "message": "why"}      a human must say yes; also "ask"
  {"action": "modify", "args": {"timeout": 30}}
  nothing, {} or {"action": "allow"}           no opinion
pre_llm_call            {"context": "text for the model"}
pre_verify              {"action": "continue", "message": "what is still to be done"}
pre_gateway_dispatch    {"action": "skip" | "rewrite" | "allow", "reason"?, "text"?}
transform_…             the replacement, as a JSON string or in its field

Any block beats any approve; all hooks run, also after a block. Claude Code's and Cursor's answers
count too. Exit codes other than 0 and 2, timeouts and answers that cannot be read are failures: a
warning, or a block on a hook with fail_closed.

What counts on an event:   hermes-hooks events pre_tool_call
What a hook's answer is:   hermes-hooks test pre_tool_call
`,
  "exit-codes": `exit codes

0     fine; of fire pre_tool_call: the tool may run
1     failed, or problems were found
2     blocked; of gateway emit: the command was denied
3     a human must approve (fire --on-approval block: exit 2)
64    the command line is wrong, nothing was done
130   interrupted by Ctrl-C
143   interrupted by TERM

Of fire pre_tool_call only exit 0 lets a tool run: whatever else comes, the tool must not run. exec
exits with the code of its command, 127 and 126 when that cannot be started, and with --block-exit
(default 2) when it was not run.

  hermes-hooks fire pre_tool_call < call.json && run-the-tool
`,
  consent: `consent: what runs, and who said that it may

A shell hook runs when its event and its exact command, after \${NAME} is replaced, were approved;
<home>/shell-hooks-allowlist.json keeps that. Plugins, gateway hooks and webhooks need no approval:
plugins.enabled and the config name them.

A hook not seen before
  on a terminal       fire, serve and exec ask; yes is recorded
  without one         it is left out, with a warning; with fail_closed it is shown as UNARMED
  --accept-hooks, HERMES_ACCEPT_HOOKS=1, hooks_auto_accept: true
                      approve without asking, and record it; for containers and CI

An approval is for good: editing the script keeps it, and list and doctor report the drift. Another
command, by one character, is another hook. list, test and events never record.

Beforehand, as an installation does:  hermes-hooks allow --all
One, as it stands in the config:      hermes-hooks allow '~/hooks/check.sh' --event pre_tool_call
What runs and what does not:          hermes-hooks list
To take it back:                      hermes-hooks revoke '~/hooks/check.sh'
`,
  environment: `environment: the variables that are read

HERMES_HOME           the home; --home wins
HERMES_ACCEPT_HOOKS   1, true, yes or on: approve hooks not seen before, and record it
HERMES_SAFE_MODE      1, true, yes or on: nothing runs and nothing is sent
NO_COLOR, TERM=dumb   no colour
HTTPS_PROXY, HTTP_PROXY, ALL_PROXY, NO_PROXY    for webhooks
SSL_CERT_FILE, NODE_EXTRA_CA_CERTS              certificates to trust
NOTIFY_SOCKET         serve tells a service manager that it is ready
what secret_env and serve.token_env name        secrets; hooks do not get them

What the environment lacks is taken from <home>/.env; that file may not set HERMES_HOME. No file of
the working folder is ever read. A hook gets all of it but those secrets, and HERMES_HOME and
HERMES_HOOK_EVENT.

  HERMES_HOME=/etc/hermes hermes-hooks list
`,
  files: `files: what is in a home

yours
  config.yaml                  what runs and who is told; hermes-hooks help config
  .env                         variables that the environment lacks; secrets; mode 0600
  agent-hooks/                 scripts that the config names; they may be anywhere
  plugins/NAME/                a plugin: plugin.yaml, and plugin.ts, plugin.js or __init__.py
  hooks/NAME/                  a gateway hook: HOOK.yaml and a handler
written by the program
  shell-hooks-allowlist.json   approvals, mode 0600
  run/                         of serve: its socket, and the token for TCP
  outbound.db                  deliveries that wait, with queue: sqlite
  logs/outbound.log            deliveries that failed when nobody was there to tell
  hook_outputs/                contexts too long for a turn, whole

Whoever can write these owns the account that hooks run as: list and doctor warn when others can.
Nothing is written anywhere else, but where output_spill.directory says, and a socket whose path
would be too long, which stands below $XDG_RUNTIME_DIR, $TMPDIR or /tmp.

To lay one out:  hermes-hooks init
`,
};
