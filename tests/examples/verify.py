import base64, hashlib, hmac, re, time

def verify(secret: str, headers, body: bytes) -> bool:
    """headers.get takes names in lower case, as in Flask, Django and http.server; body is what came, not parsed."""
    id, at = headers.get("webhook-id", ""), headers.get("webhook-timestamp", "")
    if not secret or not at.isdecimal() or abs(time.time() - float(at)) > 300:
        return False
    key = secret.encode()
    own = hmac.new(key, body, hashlib.sha256).hexdigest()
    if not hmac.compare_digest(own.encode(), headers.get("x-webhook-signature", "").encode()):
        return False
    encoded = re.fullmatch("whsec_((?:[A-Za-z0-9+/]{4})*[A-Za-z0-9+/]{2,4})=*", secret)
    if encoded:
        key = base64.b64decode(encoded[1] + "==")
    signed = f"{id}.{at}.".encode() + body
    own = b"v1," + base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest())
    return any(hmac.compare_digest(own, one.encode()) for one in headers.get("webhook-signature", "").split(" "))
