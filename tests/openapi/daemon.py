"""A daemon with something of everything that the interface shows, and programs from the registry of Python's packages."""

import json
import os
import pathlib
import secrets
import smtplib
import socket
import subprocess
import sys
import threading
import venv
from email.message import EmailMessage

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
PROGRAM = ROOT / "target/debug/tempmail"
REQUIREMENTS = HERE / "requirements.txt"
ENVIRONMENT = ROOT / "target" / "openapi"
ADDRESS = "hello@example.test"
# The address whose mail is deleted, so that the other one keeps its own.
DELETED = "gone@example.test"
# The only domain that DNS knows, and its MX.
POINTS_HERE, MX_HOST = "points-here.example.org", "mx.example.test"


def installed(program, requirements=REQUIREMENTS, environment=ENVIRONMENT):
    """A program of the requirements, which are installed once for each version of them."""
    installed = environment / "requirements.txt"
    wanted = requirements.read_text()
    if not installed.exists() or installed.read_text() != wanted:
        venv.create(environment, clear=True, with_pip=True)
        pip = [environment / "bin" / "python", "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        subprocess.run([*pip, "--requirement", requirements], check=True)
        installed.write_text(wanted)
    return environment / "bin" / program


def wire(name):
    """A name of DNS as octets."""
    return b"".join(bytes([len(label)]) + label.encode() for label in name.split(".")) + b"\0"


def answer_dns(server):
    """Answers a question for the MX of POINTS_HERE, and any other with NXDOMAIN."""
    while True:
        query, client = server.recvfrom(4096)
        # One question, which is repeated without the additional records behind it. The flags are QR, RD and RA.
        end = query.index(0, 12) + 5
        question = query[12:end]
        if question.lower() == wire(POINTS_HERE) + b"\0\x0f\0\x01":
            data = b"\0\x0a" + wire(MX_HOST)
            record = b"\xc0\x0c\0\x0f\0\x01\0\0\0\x3c" + len(data).to_bytes(2, "big") + data
            server.sendto(query[:2] + b"\x81\x80\0\1\0\1\0\0\0\0" + question + record, client)
        else:
            server.sendto(query[:2] + b"\x81\x83\0\1\0\0\0\0\0\0" + question, client)


class Daemon:
    """A daemon with something of everything that the interface shows."""

    def __init__(self, program, data_dir, *more, resolver=None):
        self.program = [program]
        self.options = ["--data-dir", data_dir]
        dns = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        dns.bind(("127.0.0.1", 0))
        threading.Thread(target=answer_dns, args=[dns], daemon=True).start()
        listen = ["--smtp-listen", "127.0.0.1:0", "--http-listen", "127.0.0.1:0"]
        domains = ["--domain", "example.test", "--mx-host", MX_HOST]
        resolver = resolver or "127.0.0.1:%d" % dns.getsockname()[1]
        command = ["serve", *listen, *domains, "--resolver", resolver, "--rate-limit", "off", "--log-format", "json", *more]
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

    def stop(self):
        """Ends the daemon, which must have run without an error."""
        status = self.process.poll()
        self.process.terminate()
        self.process.wait(60)
        failures = [line for line in self.log if '"ERROR"' in line or "panicked" in line]
        if failures:
            sys.exit("errors in the daemon's log:\n" + "".join(failures))
        if status is not None:
            sys.exit("the daemon has ended:\n" + "".join(self.log[-20:]))
