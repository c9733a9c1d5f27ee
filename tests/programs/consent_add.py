"""A peer in another language: same lock, same file, read, add, replace."""
import datetime
import fcntl
import json
import os
import sys
import tempfile

file, label, count = sys.argv[1], sys.argv[2], int(sys.argv[3])
for n in range(count):
    with open(file + ".lock", "a+") as lock:
        fcntl.flock(lock.fileno(), fcntl.LOCK_EX)
        try:
            with open(file, encoding="utf-8") as f:
                data = json.load(f)
        except FileNotFoundError:
            data = {"approvals": []}
        now = datetime.datetime.now(tz=datetime.timezone.utc).isoformat().replace("+00:00", "Z")
        data["approvals"].append({"event": "pre_tool_call", "command": f"{label} {n}", "approved_at": now})
        fd, temp = tempfile.mkstemp(dir=os.path.dirname(file))
        with os.fdopen(fd, "w", encoding="utf-8") as f:
            json.dump(data, f, indent=2, sort_keys=True)
        os.replace(temp, file)
