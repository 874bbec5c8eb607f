"""Media types that schemathesis cannot write itself."""

import schemathesis


@schemathesis.serializer("message/rfc822")
def message(_context, value):
    """Any octets are a message."""
    return getattr(value, "data", None) or str(value).encode(errors="surrogateescape")
