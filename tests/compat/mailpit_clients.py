#!/usr/bin/env python3
"""Uses the daemon by clients of Mailpit as they are: mailpit-api-client for Python and mailpit-api for JavaScript.

Usage, after `cargo build`: tests/compat/mailpit_clients.py [PROGRAM]
"""

from suite import ANN, BOB, run, send


def use(smtp, http):
    """Lists, reads and deletes by the client in Python, and leaves mail for the one in JavaScript."""
    from mailpit.client.api import API

    api = API(f"http://{http}")
    for number in range(3):
        send(smtp, number, to=(ANN, BOB), Delivered_To=ANN)
    page = api.get_messages(limit=2)
    assert (page.total, page.unread, page.count, page.start) == (3, 3, 2, 0), page
    newest = page.messages[0]
    assert newest.subject == "Your code \u2713 2", newest
    assert (newest.from_.name, newest.from_.address) == ("Shop", "shop@example.org"), newest
    assert [to.address for to in newest.to] == [ANN, BOB] and not newest.bcc and newest.attachments == 1, newest
    assert [mail.message_id for mail in api.get_messages(start=2).messages] == ["0@example.org"]

    whole = api.get_message(newest.id)
    assert (whole.message_id, whole.subject) == ("2@example.org", newest.subject), whole
    assert "123452" in whole.text and "<b>123452</b>" in whole.html, whole
    assert whole.date.isoformat() == "2025-11-14T22:13:20+00:00", whole
    [attached] = whole.attachments
    assert (attached.file_name, attached.content_type, attached.size) == ("a b.pdf", "application/pdf", 8), whole
    assert api.get_message_attachment(newest.id, attached.part_id) == "%PDF-1.4"
    headers = api.get_message_headers("latest")
    assert (headers.message_id, headers.delivered_to) == (["<2@example.org>"], [ANN]), headers

    api.delete_messages([newest.id])
    assert [mail.message_id for mail in api.get_messages().messages] == ["1@example.org", "0@example.org"]
    api.delete_messages([])
    assert api.get_messages().total == 0
    print("mailpit-api-client lists, reads and deletes")
    for number in range(3):
        send(smtp, number, to=(ANN, BOB) if number else (ANN,))


run("mailpit", "mailpit_clients.mjs", use)
