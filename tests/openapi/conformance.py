#!/usr/bin/env python3
"""Compares the daemon with its own description, /openapi.json, by requests that schemathesis makes from it.

Usage, after `cargo build`: tests/openapi/conformance.py [PROGRAM] [OPTION OF schemathesis run]...

The daemon has mail, domains, webhooks and a token. It asks a DNS server of this script, which knows no name, so nothing
leaves this machine. schemathesis is installed into an environment of its own in target/openapi.
"""

import json
import os
import pathlib
import secrets
import smtplib
import socket
import subprocess
import sys
import tempfile
import threading
import venv
from email.message import EmailMessage

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
REQUIREMENTS = HERE / "requirements.txt"
ENVIRONMENT = ROOT / "target" / "openapi"
ADDRESS = "hello@example.test"
# The address whose mail is deleted, so that the other one keeps its own.
DELETED = "gone@example.test"
# The id in the examples of the description.
EXAMPLE = "01a1fd4b-693f-754c-9969-aa4ca5fbedfb"


def schemathesis():
    """The program, installed once for each version of the requirements."""
    installed = ENVIRONMENT / "requirements.txt"
    wanted = REQUIREMENTS.read_text()
    if not installed.exists() or installed.read_text() != wanted:
        venv.create(ENVIRONMENT, clear=True, with_pip=True)
        pip = [ENVIRONMENT / "bin" / "python", "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        subprocess.run([*pip, "--requirement", REQUIREMENTS], check=True)
        installed.write_text(wanted)
    return ENVIRONMENT / "bin" / "schemathesis"


def know_no_name(server):
    """Answers each question of DNS with NXDOMAIN."""
    while True:
        query, client = server.recvfrom(4096)
        # The flags QR, RD, RA and the code 3; one question, which is repeated without the additional records behind it.
        end = query.index(0, 12) + 5
        server.sendto(query[:2] + b"\x81\x83\0\1\0\0\0\0\0\0" + query[12:end], client)


class Daemon:
    """A daemon with something of everything that the interface shows."""

    def __init__(self, program, data_dir):
        self.program = [program]
        self.options = ["--data-dir", data_dir]
        dns = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        dns.bind(("127.0.0.1", 0))
        threading.Thread(target=know_no_name, args=[dns], daemon=True).start()
        listen = ["--smtp-listen", "127.0.0.1:0", "--http-listen", "127.0.0.1:0"]
        domains = ["--domain", "example.test", "--mx-host", "mx.example.test"]
        resolver = ["--resolver", "127.0.0.1:%d" % dns.getsockname()[1]]
        command = ["serve", *listen, *domains, *resolver, "--rate-limit", "off", "--log-format", "json"]
        self.log = []
        # No request can revoke this token.
        self.token = secrets.token_hex(32)
        self.process = subprocess.Popen(
            self.program + command + self.options,
            env={**os.environ, "TEMPMAIL_ADMIN_TOKEN": self.token},
            stderr=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            text=True,
        )
        self.ready = threading.Event()
        threading.Thread(target=self.read_log, daemon=True).start()
        if not self.ready.wait(60) or self.process.poll() is not None:
            sys.exit("the daemon did not start:\n" + "".join(self.log))

    def read_log(self):
        for line in self.process.stderr:
            self.log.append(line)
            entry = json.loads(line) if line.startswith("{") else {}
            if entry.get("message", "").startswith("ready"):
                self.smtp, self.http = entry["smtp"], entry["http"]
                self.ready.set()
        self.ready.set()

    def tempmail(self, *arguments, code=0):
        command = self.program + list(arguments) + self.options
        ended = subprocess.run(command, capture_output=True, text=True)
        if ended.returncode != code:
            sys.exit(f"{command}: {ended}")
        return ended.stdout.strip()

    def fill(self):
        """Puts mail, domains, a webhook and a token into the daemon."""
        host, port = self.smtp.rsplit(":", 1)
        with smtplib.SMTP(host, int(port)) as smtp:
            for number in range(30):
                mail = EmailMessage()
                mail["From"], mail["To"], mail["Subject"] = "shop@example.org", f"{ADDRESS}, {DELETED}", f"Welcome {number} \u2713"
                mail.set_content("Your code is 123456.\n")
                if number % 2:
                    mail.add_alternative("<p>Your code is <b>123456</b>.</p>", subtype="html")
                if number % 3:
                    mail.add_attachment(b"\0\1\2", maintype="application", subtype="octet-stream", filename="a b.bin")
                smtp.send_message(mail)
            smtp.sendmail("", ["admin@example.test", ADDRESS], b"Subject: \xff\r\n\r\n\xfe\r\n")
        owner = ["--owner", "Ann", "--email", "ann@example.org"]
        self.tempmail("domain", "add", "pinned.example.org", "--skip-dns-check", *owner)
        webhook = self.tempmail("webhook", "add", ADDRESS, "https://hooks.example/new-mail", "-o", "id")
        # The attempt fails and is in the log of deliveries.
        self.tempmail("webhook", "test", webhook, code=8)
        self.tempmail("token", "new", "--name", "ci", "--scope", "read", "--expires", "1d")
        self.mail, self.deleted = (
            self.tempmail("inbox", address, "-o", "id").split()[0] for address in (ADDRESS, DELETED)
        )
        self.webhook = webhook


def described(daemon, directory):
    """A file with the description, whose examples of ids and addresses are those of mail and a webhook that exist."""
    document = json.loads(subprocess.check_output(["curl", "-sSf", f"http://{daemon.http}/openapi.json"]))
    for path, methods in document["paths"].items():
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
    program = arguments.pop(0) if arguments and not arguments[0].startswith("-") else ROOT / "target/debug/tempmail"
    environment = {**os.environ, "SCHEMATHESIS_HOOKS": "hooks", "PYTHONPATH": str(HERE), "PYTHONDONTWRITEBYTECODE": "1"}
    command = [schemathesis(), "--config-file", HERE / "schemathesis.toml", "run"]
    with tempfile.TemporaryDirectory() as directory:
        directory = pathlib.Path(directory)
        daemon = Daemon(program, directory / "data")
        try:
            daemon.fill()
            file = described(daemon, directory)
            to = ["--url", f"http://{daemon.http}", "--header", f"Authorization: Bearer {daemon.token}"]
            status = subprocess.run([*command, file, *to, *arguments], cwd=directory, env=environment).returncode
            failures = [line for line in daemon.log if '"ERROR"' in line or "panicked" in line]
            if failures:
                sys.exit("errors in the daemon's log:\n" + "".join(failures))
            if daemon.process.poll() is not None:
                sys.exit("the daemon has ended:\n" + "".join(daemon.log[-20:]))
        finally:
            daemon.process.terminate()
            daemon.process.wait(60)
    sys.exit(status)


if __name__ == "__main__":
    main()
