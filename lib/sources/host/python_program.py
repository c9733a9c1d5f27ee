# The program of a host for Python: loads one file and calls what it registered. Given to python3
# as text; it speaks JSON lines over descriptor 3.
import sys

if sys.path and sys.path[0] == "":
    # The folder we start in is not to be trusted (rule 1.3b).
    del sys.path[0]

import asyncio
import ctypes
import importlib.util
import inspect
import json
import os
import queue
import re
import signal
import threading
import types

PIPE = 3
MOST = 500
MAX_DEPTH = 200


# --- the pipe ---------------------------------------------------------------

_lock = threading.Lock()


def send(message):
    write(json.dumps(message))


def write(text):
    data = memoryview((text + "\n").encode("ascii"))
    with _lock:
        while data:
            try:
                data = data[os.write(PIPE, data):]
            except OSError:
                # Nobody is there to read it any more: the end of the pipe follows.
                return


def lines():
    rest = []
    while True:
        try:
            data = os.read(PIPE, 1 << 20)
        except OSError:
            return
        if not data:
            return
        first, *more = data.split(b"\n")
        rest.append(first)
        for piece in more:
            yield b"".join(rest)
            rest = [piece]


def leave():
    # What the hook started goes with it, as when the host is closed.
    try:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    except ValueError:
        pass
    try:
        if os.getpgid(0) == os.getpid():
            os.killpg(0, signal.SIGTERM)
    finally:
        os._exit(0)


# --- values -----------------------------------------------------------------


def text_of(value):
    """The value as JSON: what JSON cannot hold becomes a string."""
    try:
        return json.dumps(value, allow_nan=False)
    except Exception:
        pass
    try:
        return json.dumps(plain(value, ()))
    except Exception:
        return '"[unprintable]"'


def answer_of(value):
    """The value as JSON, where what is no text does not become one."""
    text = text_of(value)
    return text if isinstance(value, str) or not text.startswith('"') else "[%s]" % text


def plain(value, seen):
    if value is None or isinstance(value, (bool, int)):
        return value
    if isinstance(value, str):
        return value
    if isinstance(value, float):
        return value if value == value and abs(value) != float("inf") else str_of(value)
    if isinstance(value, (bytes, bytearray)):
        return bytes(value).decode("utf-8", "replace")
    if id(value) in seen:
        return "[circular]"
    if len(seen) >= MAX_DEPTH:
        return "[too deep]"
    within = seen + (id(value),)
    try:
        if isinstance(value, dict):
            return {key_of(k): plain(v, within) for k, v in value.items()}
        if isinstance(value, (list, tuple, set, frozenset)):
            return [plain(item, within) for item in value]
        return str_of(value)
    except Exception:
        return "[unprintable]"


def str_of(value):
    if isinstance(value, float):
        return "NaN" if value != value else "Infinity" if value > 0 else "-Infinity"
    return str(value)


def key_of(key):
    if key is None:
        return "null"
    if isinstance(key, bool):
        return "true" if key else "false"
    return str(key)


def fault(error):
    """The error in one line, without a traceback."""
    try:
        text = "%s: %s" % (type(error).__name__, error)
    except Exception:
        text = type(error).__name__
    return " ".join(text.split())[:MOST].rstrip(": ")


# --- what a plugin is given -------------------------------------------------


class NotProvided(RuntimeError):
    def __init__(self, name):
        super().__init__("not provided by hermes-hooks: %s" % name)


class StandIn:
    """Something that is not there: it may be named, and says so when it is used."""

    def __init__(self, name, use):
        object.__setattr__(self, "_name", name)
        object.__setattr__(self, "_use", use)

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return StandIn("%s.%s" % (self._name, name), self._use)

    def __call__(self, *given, **named):
        return self._use(self._name)

    def __repr__(self):
        return "<not provided by hermes-hooks: %s>" % self._name

    def _refuse(self, *given, **named):
        raise NotProvided(self._name)

    __setattr__ = __getitem__ = __setitem__ = __iter__ = __len__ = __contains__ = _refuse
    __enter__ = __await__ = _refuse
    # Without a length of its own an object counts as true.
    __bool__ = lambda self: True


def raising(name):
    def use(used):
        raise NotProvided(used)

    return StandIn(name, use)


class Message(dict):
    """An event whose fields are keys and attributes alike."""

    def __getattribute__(self, name):
        if not name.startswith("__") and name in self:
            return self[name]
        return super().__getattribute__(name)

    def __setattr__(self, name, value):
        self[name] = value


def message_of(value):
    if isinstance(value, dict):
        return Message((key, message_of(item)) for key, item in value.items())
    if isinstance(value, list):
        return [message_of(item) for item in value]
    return value


class Log:
    def __call__(self, line, level="info"):
        send({"log": str(line), "level": str(level)})

    def debug(self, line, *given):
        self(line % given if given else line, "debug")

    def info(self, line, *given):
        self(line % given if given else line, "info")

    def warning(self, line, *given):
        self(line % given if given else line, "warning")

    warn = warning

    def error(self, line, *given):
        self(line % given if given else line, "error")


class Context:
    def __init__(self, host, name, home):
        self._host = host
        self.name = name
        self.home = home
        self.log = Log()

    def register_hook(self, event, callback):
        if not isinstance(event, str) or not event or not callable(callback):
            shown = '"%s"' % event if isinstance(event, str) else "without an event's name"
            self._host.warn("register_hook %s: expected an event's name and a function" % shown)
            return
        self._host.callbacks.append({"id": self._host.add(callback), "event": event})

    registerHook = register_hook

    def register_system_prompt_section(self, id, content, position="after_memory", max_chars=None):
        if not isinstance(id, str):
            self._host.warn("register_system_prompt_section: expected an id that is a string")
            return
        if isinstance(max_chars, bool) or not isinstance(max_chars, (int, float, type(None))):
            max_chars = type(max_chars).__name__
        if callable(content):
            content = {"callback": self._host.add(content)}
        else:
            content = {"text": json.loads(answer_of(content))}
        max_chars = json.loads(text_of(max_chars))
        self._host.sections.append(
            {"id": id, "position": str(position), "max_chars": max_chars, "content": content}
        )

    registerSystemPromptSection = register_system_prompt_section

    def __getattr__(self, name):
        if name.startswith("_"):
            raise AttributeError(name)
        return StandIn(name, self._host.refuse)


# --- calling ----------------------------------------------------------------


class Threads:
    """One thread for each call under way, kept for the next: a stuck one holds nobody up."""

    def __init__(self):
        self._idle = []

    def run(self, work):
        try:
            jobs = self._idle.pop()
        except IndexError:
            jobs = queue.SimpleQueue()
            threading.Thread(target=self._serve, args=(jobs,), daemon=True).start()
        jobs.put(work)

    def _serve(self, jobs):
        while True:
            jobs.get()()
            self._idle.append(jobs)


class Callback:
    """A function with what is known of its signature."""

    def __init__(self, function):
        self.function = function
        call = getattr(function, "__call__", None)
        self.is_async = inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(call)
        try:
            parameters = list(inspect.signature(function).parameters.values())
        except (TypeError, ValueError):
            parameters = None
        self.first = ()
        self.names = None
        if parameters is not None:
            self.first = [p.name for p in parameters if p.kind is p.POSITIONAL_ONLY]
            if not any(p.kind is p.VAR_KEYWORD for p in parameters):
                named = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
                self.names = {p.name for p in parameters if p.kind in named}

    def __call__(self, fields):
        first = [fields.pop(name) for name in self.first if name in fields]
        if self.names is not None:
            fields = {name: value for name, value in fields.items() if name in self.names}
        return self.function(*first, **fields)


class Host:
    def __init__(self):
        self.callbacks = []
        self.sections = []
        self.warnings = []
        self.functions = []
        self.registering = True
        self.gateway = False
        self.loop = asyncio.new_event_loop()
        self.threads = Threads()

    def add(self, function):
        self.functions.append(Callback(function))
        return len(self.functions) - 1

    def warn(self, warning):
        if warning not in self.warnings:
            self.warnings.append(warning)

    def refuse(self, name):
        if not self.registering:
            raise NotProvided(name)
        self.warn(str(NotProvided(name)))

    def load(self, message):
        try:
            self.gateway = message["mode"] == "gateway"
            module = self.module(message)
            wanted = "handle" if self.gateway else "register"
            found = getattr(module, wanted, None)
            if not callable(found):
                raise ImportError('it has no function "%s"' % wanted)
            if self.gateway:
                self.callbacks.append({"id": self.add(found), "event": "*"})
            else:
                self.register(found, Context(self, message["name"], message["home"]))
        except BaseException as error:
            if isinstance(error, SystemExit):
                os._exit(exit_code(error))
            return send({"loaded": False, "error": fault(error)})
        finally:
            self.registering = False
        send(
            {
                "loaded": True,
                "callbacks": self.callbacks,
                "sections": self.sections,
                "warnings": self.warnings,
            }
        )

    def module(self, message):
        file, folder = message["file"], message["folder"]
        # Last: a neighbour must not take the place of a module that others import.
        sys.path.append(folder)
        name = "hermes_hooks_%s_%s" % (message["mode"], re.sub(r"\W", "_", message["name"]))
        spec = importlib.util.spec_from_file_location(
            name, file, submodule_search_locations=[folder]
        )
        module = importlib.util.module_from_spec(spec)
        sys.modules[name] = module
        spec.loader.exec_module(module)
        return module

    def register(self, register, ctx):
        try:
            returned = register(ctx)
            if inspect.isawaitable(returned):
                self.loop.run_until_complete(awaiting(returned))
        except NotProvided as error:
            # What it registered before it reached for something that is not here still counts.
            self.warn(str(error))

    def take(self, message):
        """Runs in the loop, so that a loop that is held up answers nothing."""
        if message["op"] == "ping":
            send({"pong": message["id"]})
        elif message["op"] == "call":
            self.call(message)

    def call(self, message):
        call = message["id"]
        try:
            callback = self.functions[message["callback"]]
        except IndexError:
            return send({"threw": call, "error": "it is not registered any more"})
        invoke = self.invocation(callback, message)
        if callback.is_async:
            self.loop.create_task(self.finish(call, invoke))
        else:
            self.threads.run(lambda: self.in_thread(call, invoke))

    def invocation(self, callback, message):
        fields = message["fields"]
        if self.gateway:
            given = (fields.get("event_type", ""), fields.get("context") or {})
            return lambda: callback.function(*given)
        if any(section["content"].get("callback") == message["callback"] for section in self.sections):
            return lambda: callback.function(types.MappingProxyType(fields))
        if message["event"] == "pre_gateway_dispatch":
            fields["event"] = message_of(fields.get("event"))
            fields["gateway"] = raising("gateway")
            fields["session_store"] = raising("session_store")
        return lambda: callback(fields)

    def in_thread(self, call, invoke):
        try:
            returned = invoke()
        except BaseException as error:
            return self.failed(call, error)
        if inspect.isawaitable(returned):
            asyncio.run_coroutine_threadsafe(self.finish(call, lambda: returned), self.loop)
        else:
            self.returned(call, returned)

    async def finish(self, call, invoke):
        try:
            returned = await invoke()
        except BaseException as error:
            return self.failed(call, error)
        self.returned(call, returned)

    def returned(self, call, value):
        write('{"returned": %d, "value": %s}' % (call, answer_of(value)))

    def failed(self, call, error):
        if isinstance(error, SystemExit):
            # The plugin asked for it; where it is called, this ends the process.
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(exit_code(error))
        send({"threw": call, "error": fault(error)})


async def awaiting(awaitable):
    return await awaitable


def exit_code(error):
    code = error.code
    return code & 255 if isinstance(code, int) else 0 if code is None else 1


def read(host, loaded):
    for line in lines():
        message = json.loads(line)
        if message["op"] == "load":
            loaded.put(message)
        else:
            host.loop.call_soon_threadsafe(host.take, message)
    leave()


def end_with_starter():
    if sys.platform == "linux":
        try:
            ctypes.CDLL(None).prctl(1, signal.SIGKILL)
        except Exception:
            pass


def main():
    os.set_inheritable(PIPE, False)
    os.set_blocking(PIPE, True)
    for stream in (sys.stdout, sys.stderr):
        stream.reconfigure(encoding="utf-8", errors="backslashreplace")
    # A plugin that reads its command line finds only its own name.
    del sys.argv[1:]
    end_with_starter()
    host = Host()
    asyncio.set_event_loop(host.loop)
    first = queue.SimpleQueue()
    threading.Thread(target=read, args=(host, first), daemon=True).start()
    host.load(first.get())
    host.loop.run_forever()


main()
