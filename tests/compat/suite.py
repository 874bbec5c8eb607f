"""A daemon with the interface of another mail catcher, and the clients that were written for that one."""

import os
import pathlib
import shutil
import smtplib
import subprocess
import sys
import tempfile
from email.message import EmailMessage

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "openapi"))

from daemon import PROGRAM, ROOT, Daemon, installed  # noqa: E402

ENVIRONMENT = ROOT / "target" / "compat"
REQUIREMENTS = HERE / "requirements.txt"
ANN, BOB = "ann@example.test", "bob@example.test"


def program(name):
    """A program of the environment that has the clients in Python, and npm."""
    return installed(name, REQUIREMENTS, ENVIRONMENT)


def node_modules():
    """The directory with the clients in JavaScript, which are installed once for each version of them."""
    npm, lock = program("npm"), HERE / "package-lock.json"
    modules = ENVIRONMENT / "javascript"
    copy = modules / lock.name
    if not (modules / "installed").exists() or copy.read_text() != lock.read_text():
        shutil.rmtree(modules, ignore_errors=True)
        modules.mkdir()
        for name in ["package.json", lock.name]:
            shutil.copy(HERE / name, modules)
        path = {**os.environ, "PATH": f"{ENVIRONMENT / 'bin'}:{os.environ['PATH']}"}
        command = [npm, "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel", "error"]
        subprocess.run(command, cwd=modules, env=path, check=True)
        (modules / "installed").touch()
    return modules


def send(smtp, number=0, to=(ANN,), **fields):
    """Sends a message with both bodies and an attachment."""
    mail = EmailMessage()
    mail["From"], mail["To"] = "Shop <shop@example.org>", ", ".join(to)
    mail["Subject"], mail["Message-ID"] = f"Your code \u2713 {number}", f"<{number}@example.org>"
    mail["Date"] = "Fri, 14 Nov 2025 22:13:20 +0000"
    for name, value in fields.items():
        mail[name.replace("_", "-")] = value
    mail.set_content(f"Your code is 12345{number}.\n")
    mail.add_alternative(f"<p>Your code is <b>12345{number}</b>.</p>", subtype="html")
    mail.add_attachment(b"%PDF-1.4", maintype="application", subtype="pdf", filename="a b.pdf")
    host, port = smtp.rsplit(":", 1)
    with smtplib.SMTP(host, int(port)) as connection:
        connection.send_message(mail)


def run(interface, script, use):
    """Runs `use` in the environment of the Python client, and the script of the JavaScript client."""
    if sys.argv[1:2] == ["--use"]:
        return use(*sys.argv[2:])
    tempmail = sys.argv[1] if len(sys.argv) > 1 else PROGRAM
    python = [program("python"), pathlib.Path(sys.argv[0]).resolve(), "--use"]
    modules = node_modules()
    shutil.copy(HERE / script, modules)
    with tempfile.TemporaryDirectory() as directory:
        daemon = Daemon(tempmail, pathlib.Path(directory) / "data", "--compat-api", interface)
        try:
            for command in [python, [program("node"), modules / script]]:
                # A client that waits for mail that never comes must not wait for ever.
                subprocess.run([*command, daemon.smtp, daemon.http], check=True, timeout=120)
        finally:
            daemon.stop()
