#!/usr/bin/env python3
"""Compares the daemon with its own description, /openapi.json, by requests that schemathesis makes from it.

Usage, after `cargo build`: tests/openapi/conformance.py [PROGRAM] [OPTION OF schemathesis run]...

The daemon has mail, domains, webhooks and a token. It asks a DNS server of its own, so nothing leaves this machine.
schemathesis is installed into an environment of its own in target/openapi.
"""

import json
import os
import pathlib
import subprocess
import sys
import tempfile

from daemon import ADDRESS, DELETED, HERE, PROGRAM, Daemon, installed

# The id in the examples of the description.
EXAMPLE = "01a1fd4b-693f-754c-9969-aa4ca5fbedfb"


def resolved(document, value):
    """The value with what its references lead to."""
    if isinstance(value, list):
        return [resolved(document, item) for item in value]
    if not isinstance(value, dict):
        return value
    found = document
    for name in value.get("$ref", "#").split("/")[1:]:
        found = found[name]
    own = {name: member for name, member in value.items() if name != "$ref"}
    return {name: resolved(document, member) for name, member in {**(found if "$ref" in value else {}), **own}.items()}


def described(daemon, directory):
    """A file with the description, whose examples of ids and addresses are those of mail and a webhook that exist."""
    document = json.loads(subprocess.check_output(["curl", "-sSf", f"http://{daemon.http}/openapi.json"]))
    for path, methods in document["paths"].items():
        for operation in methods.values():
            operation["parameters"] = resolved(document, operation.get("parameters", []))
        text = json.dumps(methods)
        if path == "/api/mail/delete":
            text = text.replace(EXAMPLE, daemon.deleted).replace(ADDRESS, DELETED)
        text = text.replace(EXAMPLE, daemon.webhook if "webhooks" in path else daemon.mail)
        document["paths"][path] = json.loads(text)
    file = directory / "openapi.json"
    file.write_text(json.dumps(document))
    return file


def main():
    arguments = sys.argv[1:]
    program = arguments.pop(0) if arguments and not arguments[0].startswith("-") else PROGRAM
    environment = {**os.environ, "SCHEMATHESIS_HOOKS": "hooks", "PYTHONPATH": str(HERE), "PYTHONDONTWRITEBYTECODE": "1"}
    command = [installed("schemathesis"), "--config-file", HERE / "schemathesis.toml", "run"]
    with tempfile.TemporaryDirectory() as directory:
        directory = pathlib.Path(directory)
        daemon = Daemon(program, directory / "data")
        try:
            daemon.fill()
            file = described(daemon, directory)
            to = ["--url", f"http://{daemon.http}", "--header", f"Authorization: Bearer {daemon.token}"]
            status = subprocess.run([*command, file, *to, *arguments], cwd=directory, env=environment).returncode
        finally:
            daemon.stop()
    sys.exit(status)


if __name__ == "__main__":
    main()
