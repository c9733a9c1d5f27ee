"""Reads a JSON list of texts on stdin, writes for each what PyYAML's safe_load makes of it."""

import json
import struct
import sys

import yaml


class Recursive(Exception):
    pass


def dump(value, above=()):
    """A text that says a value and its type, the same that the test makes of a ConfigNode."""
    if id(value) in above:
        raise Recursive()
    if value is None or isinstance(value, (bool, str)):
        return json.dumps(value)
    if isinstance(value, int):
        return str(value)
    if isinstance(value, float):
        return "float nan" if value != value else "float " + struct.pack(">d", value).hex()
    above = (*above, id(value))
    if isinstance(value, (list, tuple)):
        return "[" + ",".join(dump(item, above) for item in value) + "]"
    if isinstance(value, set):
        value = dict.fromkeys(value)
    if isinstance(value, dict):
        return "{" + ",".join(dump(k) + ":" + dump(v, above) for k, v in value.items()) + "}"
    return type(value).__name__


def load(text):
    try:
        return dump(yaml.safe_load(text))
    except Recursive:
        return "recursive"
    except Exception:
        return None


json.dump([load(text) for text in json.load(sys.stdin)], sys.stdout)
