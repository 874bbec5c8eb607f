"""Inboxes of tempmail as fixtures of pytest. Copy this file beside your tests, and name it in conftest.py or in a test:

    pytest_plugins = ["tempmail_pytest"]

The service is that of TEMPMAIL_URL, with a token or key in TEMPMAIL_TOKEN if it needs one. Without TEMPMAIL_URL one
runs as long as the tests: TEMPMAIL_BIN, or tempmail in PATH. It takes mail at `tempmail.smtp`.
"""

import json
import os
import pathlib
import re
import subprocess
import tempfile
import time
import urllib.error
import urllib.parse
import urllib.request

import pytest


class Tempmail:
    """A service: `url` is where it answers HTTP, `smtp` where it takes mail (HOST:PORT, or None if nobody said)."""

    def __init__(self, url=None, smtp=None):
        self.url, self.smtp = url or os.environ.get("TEMPMAIL_URL"), smtp or os.environ.get("TEMPMAIL_SMTP")
        self.process = None
        if self.url is None:
            self._start()

    def _start(self):
        self.directory = tempfile.TemporaryDirectory(prefix="tempmail-")
        log = pathlib.Path(self.directory.name, "log")
        command = [os.environ.get("TEMPMAIL_BIN", "tempmail"), "serve", "--dev", "--log-format", "json"]
        command += ["--smtp-listen", "127.0.0.1:0", "--http-listen", "127.0.0.1:0"]
        command += ["--data-dir", f"{self.directory.name}/data"]
        with log.open("wb") as file:
            self.process = subprocess.Popen(command, stderr=file)
        limit = time.monotonic() + 60
        while not (ready := re.search('"message":"ready".*"smtp":"([^",]+).*"http":"([^",]+)', log.read_text())):
            if self.process.poll() is not None or time.monotonic() > limit:
                said = log.read_text()
                self.stop()
                raise RuntimeError(f"tempmail does not start: {said}")
            time.sleep(0.02)
        self.smtp, self.url = ready[1], f"http://{ready[2]}"

    def stop(self):
        """Ends the service if it is one of its own."""
        if self.process:
            self.process.terminate()
            self.process.wait()
            self.process = None
            self.directory.cleanup()

    def ask(self, method, path, key=None, body=None, **query):
        """The JSON of an answer, or None if it has no content."""
        query = urllib.parse.urlencode({name.rstrip("_"): value for name, value in query.items()})
        request = urllib.request.Request(f"{self.url}{path}?{query}", method=method)
        if key := key or os.environ.get("TEMPMAIL_TOKEN"):
            request.add_header("Authorization", f"Bearer {key}")
        if body is not None:
            request.add_header("Content-Type", "application/json")
            request.data = json.dumps(body).encode()
        try:
            with urllib.request.urlopen(request) as answer:
                return None if answer.status == 204 else json.load(answer)
        except urllib.error.HTTPError as error:
            raise RuntimeError(f"{method} {path}: {error.code} {error.read().decode()}") from error

    def inbox(self, private=False):
        """A new address. Only its key and the administrator read the mail of a private one, which lives for an hour."""
        if private:
            made = self.ask("POST", "/api/addresses", body={"forSeconds": 3600})
        else:
            made = self.ask("GET", "/api/addresses/random")
        return Inbox(self, made["address"], made.get("key"), private)


class Inbox:
    """The mail of one address."""

    def __init__(self, service, address, key, private):
        self.service, self.address, self.key, self.private = service, address, key, private

    def _ask(self, method, path, **query):
        return self.service.ask(method, path, self.key, **query)

    def wait(self, timeout=60, code=False, link=False, **filters):
        """The oldest mail that passes the filters (`subject`, `from_`, `since`, `has`), or the best code or link of one.

        Fails after `timeout` seconds, at most 300.
        """
        if code or link:
            filters["has"] = "code" if code else "link"
        mail = self._ask("GET", "/api/mail/wait", to=self.address, timeout=timeout, **filters)
        assert mail is not None, f"no such mail for {self.address} within {timeout} s: {filters}"
        return mail["codes"][0]["code"] if code else mail["links"][0]["url"] if link else mail

    def list(self, **filters):
        """The newest hundred mails, newest first, without details."""
        return self._ask("GET", "/api/mail/messages", to=self.address, limit=100, **filters)["emails"]

    def read(self, id):
        """One mail, with its text, headers, codes, links and attachments."""
        return self._ask("GET", f"/api/mail/messages/{id}")

    def delete(self, id=None):
        """Deletes one mail, or all of the address. Returns how many there were."""
        which = {"id": id} if id else {"to": self.address}
        return self._ask("DELETE", "/api/mail/delete", **which)["deleted"]

    def end(self):
        """Ends a private inbox. A public one has no end."""
        if self.private:
            self._ask("DELETE", "/api/addresses", address=self.address)


@pytest.fixture(scope="session")
def tempmail():
    service = Tempmail()
    yield service
    service.stop()


@pytest.fixture
def inbox(tempmail):
    return tempmail.inbox()


@pytest.fixture
def private_inbox(tempmail):
    inbox = tempmail.inbox(private=True)
    yield inbox
    inbox.end()
