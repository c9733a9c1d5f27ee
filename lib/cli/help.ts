/** The help texts: what each command does, its options, and an example. */

/** Shown by `--help`, `help`, and when no command is given. */
export const OVERVIEW = `hermes-hooks: runs the hooks of a Hermes home around an agent's tool calls

usage: hermes-hooks COMMAND [OPTIONS]

  fire EVENT       run the hooks of an event on the JSON on stdin, print the verdict
  list             every hook with matcher, timeout, consent and drift; problems of the config
  test EVENT       run the matching hooks on a made-up payload and show each answer
  allow COMMAND    approve a configured hook without a terminal
  revoke COMMAND   take an approval back
  doctor           check every hook: found, executable, approved, answering well
  events [EVENT]   the events there are, or one in full
  prompt-sections  what plugins add to a new session's system prompt
  gateway emit E   fire a gateway event (agent:end, command:model, …) by hand
  init             lay out a home; install ready-made hooks
  serve            the listener: events in over a socket or TCP, verdicts out
  health           is this home's listener ready; for health checks
  receive          take signed deliveries in, print them, run a command with each
  verify           check the signature of a body, for scripts
  deliveries       what waits in a queue that keeps deliveries: list, show, redeliver, purge
  exec -- CMD      put the hooks around any command: cron jobs, containers, scripts
  config check     the problems of a config, for CI; SARIF for code hosts
  schema           a JSON Schema of the config, for editors
  completions SH   completions for bash, zsh or fish
  help [TOPIC]     this page, a command's own, or config, payloads, answers, exit-codes, consent,
                   environment, files

everywhere:
  --home DIR       the home; else $HERMES_HOME, else ~/.hermes
  --config FILE    the config; else <home>/config.yaml
  --accept-hooks   approve and record hooks not seen before, without asking
  --json           output to parse, of list, test, doctor, events, allow, revoke and health
  --debug          log what happens, to stderr
  --help           this page, or a command's own
  --version        the version

exit: 0 fine, 1 failed or problems found, 2 blocked, 3 approval needed, 64 usage
of "fire pre_tool_call" only exit 0 lets a tool run
`;

/** By command. */
export const PAGES: Readonly<Record<string, string>> = {
  fire: `usage: hermes-hooks fire EVENT [--payload-file FILE] [--on-approval block]
                         [--flush SECONDS] [--no-server]

Runs the hooks of EVENT, one after another, and prints one verdict as JSON.
Reads the event's fields as a JSON object from stdin: bare ({"tool_name": …,
"args": {…}, "session_id": …}) or in the wire form that hooks get, in which EVENT
may be left out. Hooks not approved are left out, and the verdict says so.

  --payload-file FILE    read the fields from FILE instead of stdin
  --on-approval block    an approval that a human must give counts as a block (exit 2),
                         for callers that cannot ask
  --flush SECONDS        wait so long, at most 300, for the outbound deliveries of this event, and
                         name on stderr those not made; default 0, 10 when we are process 1
  --no-server            ask nothing of the listener of this home (hermes-hooks serve): neither to
                         run plugins nor to send deliveries

exit, for pre_tool_call: 0 allow, 2 block, 3 a human must approve, 1 failed; for others 0 or 1

example:
  echo '{"tool_name": "terminal", "args": {"command": "rm -rf /"}}' |
    hermes-hooks fire pre_tool_call
`,
  list: `usage: hermes-hooks list [--json]

Every configured hook with its matcher, timeout, fail_closed, consent and drift, the files
that were read, and every problem found in them. Asks nothing and records nothing.

example:
  hermes-hooks list --json
`,
  test:
    `usage: hermes-hooks test EVENT [--for-tool TOOL] [--payload-file FILE] [--variant V] [--json]

Runs the matching hooks on a made-up payload of the real shape, approved or not, and shows for
each its exit code, time, stdout, stderr and the directive that fire would get from it; then
the verdict. Records nothing and sends nothing outbound.

  --for-tool TOOL        as the tool's name, over sample and payload file
  --payload-file FILE    fields (bare or wire form) over those of the sample
  --variant V            another sample of the event; see hermes-hooks events EVENT

exit: 0 the hooks ran, 1 one could not start or timed out

example:
  hermes-hooks test pre_tool_call --for-tool terminal
`,
  allow: `usage: hermes-hooks allow COMMAND [--event EVENT] [--json]
       hermes-hooks allow --all [--event EVENT] [--json]

Approves configured hooks without a terminal: COMMAND as it stands in the config (quote it as one
word), or all of them. Approving again is no error and takes up the script's present state.

  --event EVENT          only as a hook of this event; may be repeated
  --all                  every hook that is configured

example:
  hermes-hooks allow '~/.hermes/agent-hooks/check.sh --strict'
`,
  revoke: `usage: hermes-hooks revoke COMMAND [--json]

Removes every approval of exactly this command, whatever the event. Takes effect at the next
start of whatever runs hooks. exit 1 when there was none.

example:
  hermes-hooks revoke '~/.hermes/agent-hooks/check.sh --strict'
`,
  doctor: `usage: hermes-hooks doctor [--accept-hooks] [--json]

Checks every hook: can it be found and started, is it approved, has its script changed since, is
what it answers to a made-up payload valid for its event, and in what time. Only approved hooks
are run. Outbound targets are resolved and connected to, and nothing is sent. Says what it could
not check. exit 1 when there are problems.

example:
  hermes-hooks doctor
`,
  events: `usage: hermes-hooks events [EVENT] [--variant V] [--json]

The catalogue: every event by kind; or one in full, with fields, sample, privacy note and the
answers that count.

  --variant V            another sample of the event

example:
  hermes-hooks events pre_tool_call
`,
  gateway: `usage: hermes-hooks gateway emit EVENT [--payload-file FILE] [--json]

Fires one gateway event by hand: loads the gateway hooks (<home>/hooks/NAME with HOOK.yaml and a
handler) that listen to it, calls their handlers one after another, exact names before wildcards,
prints one verdict as JSON and ends them. The listener (hermes-hooks serve) is not asked and not
disturbed. What handlers print, and what fails, is on stderr.

The context is a JSON object on stdin; from a terminal, or when nothing is piped in, it is the
event's sample. What a handler started and did not wait for ends with it.

  --payload-file FILE    read the context from FILE instead of stdin

exit: 2 a handler denied the command, 0 anything else, 1 the context cannot be read,
64 no such event

examples:
  hermes-hooks gateway emit agent:end
  echo '{"platform": "telegram", "command": "model", "args": ""}' |
    hermes-hooks gateway emit command:model
`,
  "prompt-sections": `usage: hermes-hooks prompt-sections [--session-info JSON] [--json]

Loads the enabled plugins and prints what a new session would get in its system prompt from
them: each section under a heading that names it and its plugin, by id. A section that breaks a
rule is left out, and why is said on stderr.

  --session-info JSON    the session that functions are told of: session_id, model, provider,
                         platform, profile_name, cwd; what is not given is empty, or ours

exit: 0 fine, 1 a plugin or a section was left out

example:
  hermes-hooks prompt-sections --session-info '{"session_id": "s1", "platform": "telegram"}'
`,
  init: `usage: hermes-hooks init [--with NAME]… [--write] [--json]
       hermes-hooks init --list [--json]

Lays out a home: the folder (0700), a config.yaml that explains itself with everything in it
commented out, agent-hooks/, hooks/, plugins/ and logs/. What is there already is never replaced,
and is named as kept.

  --with NAME            install a ready-made hook; may be repeated, or name several with commas:
                         a shell hook into agent-hooks/, with the config lines to add, a gateway
                         hook into hooks/NAME/
  --write                add the lines to the config itself: comments and layout stay as they are, a
                         hook that is in it is not added again, and a config that cannot be edited
                         safely is left alone, with the reason (exit 1)
  --list                 the ready-made hooks

Nothing is approved by this: the last lines say how to.

example:
  hermes-hooks init --with block-rm-rf,secret-scan --write
  hermes-hooks allow --all
`,
  serve:
    `usage: hermes-hooks serve [--listen [HOST:PORT]] [--accept-hooks] [--log-format F] [--log-level L]

Takes events over HTTP and answers verdicts: on the unix socket <home>/run/hooks.sock, and with
--listen or serve.listen over TCP, where a bearer token is asked for (serve.token_env names the
variable that holds it; else one is made in <home>/run/token). Hooks are registered at the start;
those not approved are left out, or asked about when there is a terminal. Shell hooks run in this
process's own environment. Settings stand under hermes_hooks.serve in the config.
Gateway hooks are loaded too: gateway:startup is fired once we listen, every other gateway event
is taken over HTTP like the rest.

  --listen [HOST:PORT]   listen on TCP too; alone it means 127.0.0.1:8645
  --log-format F         text, json, or auto: text on a terminal, else JSON lines
  --log-level L          debug, info, warning or error; default info

HUP, or POST /v1/reload, reads the config again. TERM or INT: running events get
serve.stop_timeout (10 s), deliveries up to 5 s more; a second one exits at once. exit 0 after
that, 1 when it cannot start

examples:
  hermes-hooks serve --listen
  curl --unix-socket ~/.hermes/run/hooks.sock http://localhost/v1/events/pre_tool_call \\
    -d '{"tool_name": "terminal", "args": {"command": "ls"}}'
`,
  health: `usage: hermes-hooks health [--json]

Asks the listener of this home, over its unix socket, whether it takes events. Prints one line.
exit 0 it does, 1 it does not

example:
  hermes-hooks health || systemctl --user restart hermes-hooks
`,
  receive:
    `usage: hermes-hooks receive [--listen [HOST:PORT]] [--secret-env NAME]… [--exec 'COMMAND']

Receives deliveries over HTTP and prints each accepted one as a JSON line. Signatures are checked
over the exact bytes: our own (X-Hermes-Signature-256), Standard Webhooks (webhook-signature) and
GitHub's (X-Hub-Signature-256); a delivery that was signed more than 5 minutes ago or ahead is
refused where the scheme signs a time, and one that comes again is answered and dropped.

  --listen HOST:PORT     default 127.0.0.1:8646; port 0 takes a free one; told on stderr
  --secret-env NAME      a variable (or one of <home>/.env) that holds a secret; may be repeated,
                         any of them may have signed. Without one, only loopback is listened on
  --exec 'COMMAND'       run COMMAND, without a shell, with the body on stdin and the variables
                         HERMES_HOOK_EVENT and HERMES_DELIVERY_ID; 60 seconds each, one at a time

answers: 200 accepted or known already, 401 not to be believed, 403 a web page asked,
413 over 16 MiB, 503 too much waits. TERM: lets what waits run for 10 seconds. exit 0

example:
  hermes-hooks receive --secret-env WEBHOOK_SECRET --exec './on-event.sh'
`,
  verify: `usage: hermes-hooks verify --secret-env NAME --signature S [OPTIONS] < BODY

Checks the signature of the bytes on stdin. exit 0 it is right, 1 it is not, and why.

  --secret-env NAME      the variable that holds the secret; may be repeated
  --signature S          sha256=<hex> (ours, GitHub's) or v1,<base64> (Standard Webhooks)
  --id ID                the webhook-id header, for v1
  --timestamp SECONDS    the webhook-timestamp header, for v1
  --tolerance SECONDS    how old a signed time may be, in v1 and in the body of our own deliveries;
                         default 300, 0 for any age

example:
  hermes-hooks verify --secret-env WEBHOOK_SECRET --signature "$HTTP_X_HERMES_SIGNATURE_256" < body
`,
  exec:
    `usage: hermes-hooks exec [--tool NAME] [--session ID] [--block-exit N] [--on-approval block]
                         [--capture] [--event EVENT]… [--flush SECONDS] [--no-server]
                         -- COMMAND [ARG…]

Puts the hooks around a command: pre_tool_call first, with the arguments {command, argv}, which may
block or change it; then the command in our place, with our stdin, stdout, stderr and terminal;
then post_tool_call with what came of it. Nothing of ours is on stdout. Works with no home at all.

  --tool NAME            the tool's name that matchers see; default terminal
  --session ID           the session's id; default none
  --block-exit N         what a block exits with, 1 to 255; default 2
  --on-approval block    do not ask: an approval that a human must give is a block. Without a
                         terminal it always is
  --capture              put the last 64 KiB of its output into post_tool_call; the output then goes
                         through pipes
  --event EVENT          fire this event at the end, such as on_session_end; may be repeated
  --flush SECONDS        wait so long, at most 300, for outbound deliveries; default 10
  --no-server            ask nothing of the listener of this home

exit: the command's own; 128 and the signal's number; 127 not found, 126 cannot be executed;
--block-exit when it was not run; 1 the config cannot be read, 64 usage: not run either. Neither
post_tool_call, nor --event, nor a delivery that was not made changes it

example, a line of a crontab that reports to a webhook:
  15 3 * * *  hermes-hooks exec --event on_session_end -- /usr/local/bin/backup.sh
`,
  config: `usage: hermes-hooks config check [FILE…] [--json | --sarif]

Checks files and runs nothing: no hook, no plugin, no connection, and it asks nothing.

Without FILE, this home: the config, the allowlist, every HOOK.yaml and plugin.yaml, whether each
command can be found, and who can write the files. With FILEs, each on its own, as it stands in a
repository: a config, a HOOK.yaml or plugin.yaml (with the folder it describes), or a folder that
is a home, a hook or a plugin. What only the machine in use can say is then not asked: no
environment, no scripts, no approvals, no owners. Where a value depends on it, a note says so.

  --json                 list of problems and counts; see docs/json.md
  --sarif                SARIF 2.1.0, for code hosts; paths relative to the working folder

A gate (fail_closed) that will not run is an error, whatever else it may be.
exit: 0 no error, warnings and notes aside; 1 errors

examples:
  hermes-hooks config check
  hermes-hooks config check config.yaml hooks/boot-md --sarif > hooks.sarif
`,
  schema: `usage: hermes-hooks schema [config | plugin | hook]
       hermes-hooks schema payload EVENT

Prints a JSON Schema (draft 7): of config.yaml, of a plugin.yaml, of a HOOK.yaml, or of what a hook
of EVENT reads on stdin. An editor with the YAML language server completes and checks a file whose
first line is

  # yaml-language-server: $schema=config.schema.json

example:
  hermes-hooks schema > ~/.hermes/config.schema.json
`,
  deliveries: `usage: hermes-hooks deliveries [status] [--json]
       hermes-hooks deliveries list [FILTER] [--limit N] [--json]
       hermes-hooks deliveries show ID
       hermes-hooks deliveries redeliver|purge ID…|FILTER|--all [--json]
       hermes-hooks deliveries enable TARGET
       hermes-hooks deliveries flush [--flush SECONDS]

Works on what is kept when hermes_hooks.outbound.queue is sqlite or a redis URL, whoever is
sending from it meanwhile.

  status                 each target: what waits, dead letters, disabled or paused, and why
  list, show             deliveries that are not made yet, and dead letters; the oldest first
  redeliver              due now, with all their attempts before them; without ids or --state only
                         dead letters
  purge                  removed for good, but those being sent
  enable                 lifts what keeps a target from being sent to: a 410 it answered, a pause
  flush                  sends what is due and ends, for cron; leaves it to the listener when one
                         runs

filter, all of it must match, and the other options:
  --target NAME          the target's name
  --event EVENT          the event that it carries
  --state STATE          waiting, retrying, sending or dead; may be repeated
  --before T, --after T  when it was fired: a time, or an age such as 90m, 2h or 7d
  --all                  all there are, for redeliver and purge
  --limit N              how many list shows; default 100
  --flush SECONDS        how long flush may take at most; default 60

exit: 0 fine, 1 nothing is kept, no such delivery, or flush left something that was due

examples:
  hermes-hooks deliveries list --state dead --target ci-notify
  hermes-hooks deliveries redeliver --all
`,
  completions: `usage: hermes-hooks completions bash|zsh|fish

Prints a completion script for the shell: commands, options, events, ready-made hooks, and behind
exec -- the system's own commands.

examples:
  hermes-hooks completions bash > ~/.local/share/bash-completion/completions/hermes-hooks
  hermes-hooks completions zsh > "\${fpath[1]}/_hermes-hooks"
  hermes-hooks completions fish > ~/.config/fish/completions/hermes-hooks.fish
`,
  help: OVERVIEW,
};
