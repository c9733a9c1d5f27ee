"""Takes the lock, says so, holds it for the given seconds."""
import fcntl
import sys
import time

with open(sys.argv[1], "a+") as lock:
    fcntl.flock(lock.fileno(), fcntl.LOCK_EX | (fcntl.LOCK_NB if len(sys.argv) > 3 else 0))
    print("held", flush=True)
    time.sleep(float(sys.argv[2]))
