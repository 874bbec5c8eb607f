const { createHmac, timingSafeEqual } = require('node:crypto');

// headers as in http.IncomingMessage, with names in lower case; body is a Buffer with what came, not parsed.
function verify(secret, headers, body) {
  const { 'webhook-id': id = '', 'webhook-timestamp': at = '' } = headers;
  if (!secret || !/^\d+$/.test(at) || Math.abs(Date.now() / 1000 - Number(at)) > 300) return false;
  const same = (own, given) => {
    const [a, b] = [Buffer.from(own), Buffer.from(given)];
    return a.length === b.length && timingSafeEqual(a, b);
  };
  const hex = createHmac('sha256', secret).update(body).digest('hex');
  const encoded = /^whsec_((?:[A-Za-z0-9+/]{4})*[A-Za-z0-9+/]{2,4})=*$/.exec(secret);
  const key = encoded ? Buffer.from(encoded[1], 'base64') : secret;
  const standard = 'v1,' + createHmac('sha256', key).update(`${id}.${at}.`).update(body).digest('base64');
  const given = (headers['webhook-signature'] ?? '').split(' ');
  return same(hex, headers['x-webhook-signature'] ?? '') && given.some((one) => same(standard, one));
}
