import os
import urllib.parse
import urllib.request

pytest_plugins = ["tempmail_pytest"]


def post(path, **form):
    return urllib.request.urlopen(os.environ["APP_URL"] + path, urllib.parse.urlencode(form).encode())


def test_sign_up(inbox):
    post("/sign-up", email=inbox.address)
    code = inbox.wait(code=True)
    assert post("/confirm", email=inbox.address, code=code).status == 200


def test_sign_up_in_private(private_inbox):
    test_sign_up(private_inbox)


def test_welcome(inbox):
    post("/sign-up", email=inbox.address)
    mail = inbox.wait(subject="welcome")
    assert mail["id"] in [listed["id"] for listed in inbox.list(from_="no-reply@")]
    assert "founded" in inbox.read(mail["id"])["bodyText"]
    assert inbox.wait(link=True) == "https://app.test/verify?token=8f2a3c4d5e6b"
    assert inbox.delete(mail["id"]) == 1
