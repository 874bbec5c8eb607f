"""Media types that schemathesis cannot write itself."""

import schemathesis


@schemathesis.serializer("message/rfc822")
def message(_context, value):
    """Any octets are a message."""
    return getattr(value, "data", None) or str(value).encode(errors="surrogateescape")


@schemathesis.hook
def before_call(_context, case, _kwargs):
    """A request that waits for mail only looks, unless its time is the bad input."""
    if case.path == "/api/mail/wait" and str((case.query or {}).get("timeout", 0)).isdigit():
        case.query = {**(case.query or {}), "timeout": 0}
