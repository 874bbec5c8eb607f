import json
import os
import urllib.parse
import urllib.request

import pytest

TEMPMAIL_URL = os.environ.get("TEMPMAIL_URL", "http://127.0.0.1:8080")
APP_URL = os.environ["APP_URL"]


def ask(method, path, key=None, **query):
    """The JSON of an answer, or None if it has no content."""
    url = f"{TEMPMAIL_URL}{path}?{urllib.parse.urlencode(query)}"
    headers = {"Authorization": f"Bearer {key}"} if key else {"Content-Type": "application/json"}
    body = b'{"forSeconds": 600}' if method == "POST" else None
    with urllib.request.urlopen(urllib.request.Request(url, body, headers, method=method)) as answer:
        return json.load(answer) if answer.status != 204 else None


@pytest.fixture
def inbox():
    """A private address for one test, and the key that reads its mail."""
    lease = ask("POST", "/api/addresses")
    yield lease
    ask("DELETE", "/api/addresses", lease["key"], address=lease["address"])


def post(path, **form):
    return urllib.request.urlopen(f"{APP_URL}{path}", urllib.parse.urlencode(form).encode())


def test_sign_up(inbox):
    post("/sign-up", email=inbox["address"])
    mail = ask("GET", "/api/mail/wait", inbox["key"], to=inbox["address"], timeout=60, has="code")
    assert post("/confirm", email=inbox["address"], code=mail["codes"][0]["code"]).status == 200
