"""Runs a program on a terminal of its own and types at it.

pty_type.py STEPS PROGRAM ARG...: STEPS is JSON, a list of [wait for this text (or null), then type
this]. "^C" and "^D" in what is typed are the keys. Prints what the terminal showed, then the exit.
"""
import json
import os
import pty
import select
import sys
import time

steps = json.loads(sys.argv[1])
pid, fd = pty.fork()
if pid == 0:
    os.execvp(sys.argv[2], sys.argv[2:])
shown, seen = b"", 0
deadline = time.monotonic() + 15


def more():
    global shown
    if not select.select([fd], [], [], 0.1)[0]:
        return True
    try:
        data = os.read(fd, 4096)
    except OSError:
        return False
    shown += data
    return bool(data)


alive = True
for awaited, typed in steps:
    while awaited and alive and awaited.encode() not in shown[seen:] and time.monotonic() < deadline:
        alive = more()
    if awaited and awaited.encode() in shown[seen:]:
        seen = shown.index(awaited.encode(), seen) + len(awaited)
    if not alive or time.monotonic() > deadline:
        break
    os.write(fd, typed.encode().replace(b"^C", b"\x03").replace(b"^D", b"\x04"))
while alive and time.monotonic() < deadline:
    alive = more()
if alive:
    os.kill(pid, 9)
status = os.waitpid(pid, 0)[1]
exit_code = os.waitstatus_to_exitcode(status)
print(json.dumps({"shown": shown.decode("utf-8", "replace"), "exit": exit_code, "hung": alive}))
