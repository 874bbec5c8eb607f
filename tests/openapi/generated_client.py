#!/usr/bin/env python3
"""Uses the daemon by a client that openapi-python-client makes from /openapi.json, and by nothing else.

Usage, after `cargo build`: tests/openapi/generated_client.py [PROGRAM]

The client lists, reads, deletes and registers, and does what the administrator does with a token.
"""

import pathlib
import subprocess
import sys
import tempfile

from daemon import ADDRESS, DELETED, ENVIRONMENT, POINTS_HERE, PROGRAM, Daemon, installed


def use(http, token):
    """Runs in the environment of the generated client, in the directory that has it."""
    from client import AuthenticatedClient, Client
    from client.api.admin import add_domain, create_token, get_status, list_all_messages, list_mailboxes, list_tokens
    from client.api.admin import remove_domain, revoke_token
    from client.api.admin_webhooks import list_all_webhooks
    from client.api.domains import list_active_domains, register_domain
    from client.api.mail import delete_messages, get_message, get_text, list_messages
    from client.api.webhooks import delete_webhook, list_webhooks, register_webhook
    from client.models import NewAdminDomain, NewDomain, NewToken, NewWebhook

    public = Client(base_url=f"http://{http}", raise_on_unexpected_status=True)
    page = list_messages.sync(client=public, to=ADDRESS, limit=5, subject="welcome")
    assert (page.limit, len(page.emails)) == (5, 5), page
    mail = page.emails[0]
    whole = get_message.sync(client=public, id=mail.id)
    assert (whole.subject, whole.header.from_[0].address) == (mail.subject, "shop@example.org"), whole
    assert "123456" in get_text.sync(client=public, id=mail.id)

    total = list_messages.sync(client=public, to=DELETED).total
    assert delete_messages.sync(client=public, to=DELETED).deleted == total > 0
    assert list_messages.sync(client=public, to=DELETED).total == 0

    domain = register_domain.sync(client=public, body=NewDomain(domain=POINTS_HERE))
    assert (domain.domain, domain.status) == (POINTS_HERE, "active"), domain
    assert POINTS_HERE in list_active_domains.sync(client=public)
    refused = register_domain.sync(client=public, body=NewDomain(domain="elsewhere.example.org"))
    assert (refused.status, refused.code) == (422, "mx_mismatch"), refused

    webhook = NewWebhook(recipient=f"new@{POINTS_HERE}", url="https://hooks.example/x")
    webhook = register_webhook.sync(client=public, body=webhook)
    assert [found.id for found in list_webhooks.sync(client=public, recipient=f"new@{POINTS_HERE}")] == [webhook.id]
    assert delete_webhook.sync(client=public, id=webhook.id).deleted == 1

    stranger = list_mailboxes.sync(client=public)
    assert (stranger.status, stranger.code) == (401, "token_required"), stranger
    admin = AuthenticatedClient(base_url=f"http://{http}", token=token, raise_on_unexpected_status=True)
    assert ADDRESS in [mailbox.address for mailbox in list_mailboxes.sync(client=admin).mailboxes]
    assert list_all_messages.sync(client=admin).emails
    assert get_status.sync(client=admin)
    assert list_all_webhooks.sync(client=admin)
    assert add_domain.sync(client=admin, body=NewAdminDomain("pinned.example.com", skip_dns_check=True)).domain
    assert remove_domain.sync(client=admin, domain="pinned.example.com").deleted == 1
    created = create_token.sync(client=admin, body=NewToken(name="generated"))
    assert "generated" in [known.name for known in list_tokens.sync(client=admin)]
    assert revoke_token.sync(client=admin, id=created.id).deleted == 1
    print("lists, reads, deletes, registers and administers")


def main():
    if sys.argv[1:2] == ["--use"]:
        sys.path.insert(0, "")
        return use(*sys.argv[2:])
    program = sys.argv[1] if len(sys.argv) > 1 else PROGRAM
    with tempfile.TemporaryDirectory() as directory:
        directory = pathlib.Path(directory)
        daemon = Daemon(program, directory / "data")
        try:
            daemon.fill()
            generate = [installed("openapi-python-client"), "generate", "--meta", "none", "--output-path", "client"]
            generate += ["--url", f"http://{daemon.http}/openapi.json"]
            # It has much to say about types of content that it leaves out, such as messages.
            generated = subprocess.run(generate, cwd=directory, capture_output=True, text=True)
            if generated.returncode != 0:
                sys.exit(generated.stdout + generated.stderr)
            python = [ENVIRONMENT / "bin" / "python", pathlib.Path(__file__).resolve()]
            status = subprocess.run([*python, "--use", daemon.http, daemon.token], cwd=directory).returncode
        finally:
            daemon.stop()
    sys.exit(status)


if __name__ == "__main__":
    main()
