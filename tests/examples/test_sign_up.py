import json
import os
import urllib.parse
import urllib.request

import pytest

TEMPMAIL_URL = os.environ.get("TEMPMAIL_URL", "http://127.0.0.1:8080")
APP_URL = os.environ["APP_URL"]


class Inbox:
    """An address of its own for one test."""

    def __init__(self):
        self.address = self.get("/api/addresses/random")["address"]

    def get(self, path, **query):
        url = f"{TEMPMAIL_URL}{path}?{urllib.parse.urlencode(query)}"
        with urllib.request.urlopen(url) as answer:
            return json.load(answer) if answer.status == 200 else None

    def wait(self, timeout=60, **filters):
        mail = self.get("/api/mail/wait", to=self.address, timeout=timeout, **filters)
        assert mail is not None, f"no such mail for {self.address} within {timeout} s"
        return mail


@pytest.fixture
def inbox():
    return Inbox()


def post(path, **form):
    return urllib.request.urlopen(f"{APP_URL}{path}", urllib.parse.urlencode(form).encode())


def test_sign_up(inbox):
    post("/sign-up", email=inbox.address)
    code = inbox.wait(has="code")["codes"][0]["code"]
    assert post("/confirm", email=inbox.address, code=code).status == 200
