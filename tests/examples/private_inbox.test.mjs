import assert from 'node:assert/strict';
import { test } from 'node:test';

const { APP_URL, TEMPMAIL_URL = 'http://127.0.0.1:8080' } = process.env;

async function ask(method, path, key, query = {}) {
  const headers = key ? { Authorization: `Bearer ${key}` } : { 'Content-Type': 'application/json' };
  const body = method === 'POST' ? '{"forSeconds": 600}' : undefined;
  const answer = await fetch(`${TEMPMAIL_URL}${path}?${new URLSearchParams(query)}`, { method, headers, body });
  assert.ok(answer.ok, `${path}: ${answer.status}`);
  return answer.status === 204 ? null : answer.json();
}

// With Playwright this is a fixture: test.extend({ inbox: async ({}, use) => withInbox(use) }).
async function withInbox(use) {
  const { address, key } = await ask('POST', '/api/addresses');
  const wait = (filters) => ask('GET', '/api/mail/wait', key, { to: address, timeout: 60, ...filters });
  await use({ address, wait });
  await ask('DELETE', '/api/addresses', key, { address });
}

const post = (path, form) => fetch(`${APP_URL}${path}`, { method: 'POST', body: new URLSearchParams(form) });

test('a visitor signs up', () => withInbox(async (inbox) => {
  await post('/sign-up', { email: inbox.address });
  const { codes } = await inbox.wait({ has: 'code' });
  const confirmed = await post('/confirm', { email: inbox.address, code: codes[0].code });
  assert.equal(confirmed.status, 200);
}));
