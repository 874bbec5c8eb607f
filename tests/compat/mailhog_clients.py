#!/usr/bin/env python3
"""Uses the daemon by clients of MailHog as they are: mailhog for Python and mailhog for JavaScript.

Usage, after `cargo build`: tests/compat/mailhog_clients.py [PROGRAM]
"""

from suite import ANN, BOB, run, send


def use(smtp, http):
    """Lists, searches, reads and deletes by the client in Python, and leaves mail for the one in JavaScript."""
    from mailhog import Mailhog

    host, port = http.rsplit(":", 1)
    mailhog = Mailhog(host, int(port))
    for number in range(3):
        send(smtp, number, to=(ANN, BOB) if number else (ANN,))
    page = mailhog.messages(limit=2)
    assert (page.total, page.start, page.count) == (3, 0, 2), page
    newest = page.items[0]
    assert newest.get_sender() == "shop@example.org", newest
    assert newest.get_recipients() == [ANN, BOB], newest
    assert "<2@example.org>" in newest.content.headers["Message-ID"], newest
    assert "Your code is 123452." in newest.content.body and len(newest.mime.parts) == 2, newest

    assert [mail.id for mail in mailhog.search(BOB, "to").items] == [mail.id for mail in page.items]
    assert mailhog.search("shop@", "from").total == 3
    assert mailhog.search("code is 123450").total == mailhog.search("123450").count == 1
    assert mailhog.search("nobody@", "to").items == []

    mailhog.delete(newest)
    assert mailhog.messages().items == mailhog.messages().items[:2] and mailhog.messages().total == 2
    assert newest.id not in [mail.id for mail in mailhog.messages().items]
    mailhog.delete_all()
    assert mailhog.messages().total == 0
    print("mailhog for Python lists, searches, reads and deletes")
    for number in range(3):
        send(smtp, number, to=(ANN, BOB) if number else (ANN,))


run("mailhog", "mailhog_clients.mjs", use)
