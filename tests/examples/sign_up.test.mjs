import assert from 'node:assert/strict';
import { test } from 'node:test';

const { APP_URL, TEMPMAIL_URL = 'http://127.0.0.1:8080' } = process.env;

async function get(path, query = {}) {
  const answer = await fetch(`${TEMPMAIL_URL}${path}?${new URLSearchParams(query)}`);
  assert.ok(answer.ok, `${path}: ${answer.status}`);
  return answer.status === 204 ? null : answer.json();
}

// With Playwright this is the body of a fixture: test.extend({ inbox: async ({}, use) => use(await newInbox()) }).
async function newInbox() {
  const { address } = await get('/api/addresses/random');
  const wait = async (filters = {}) => {
    const mail = await get('/api/mail/wait', { to: address, timeout: 60, ...filters });
    assert.ok(mail, `no such mail for ${address}`);
    return mail;
  };
  return { address, wait };
}

const post = (path, form) => fetch(`${APP_URL}${path}`, { method: 'POST', body: new URLSearchParams(form) });

test('a visitor signs up', async () => {
  const inbox = await newInbox();
  await post('/sign-up', { email: inbox.address });
  const { codes } = await inbox.wait({ has: 'code' });
  const confirmed = await post('/confirm', { email: inbox.address, code: codes[0].code });
  assert.equal(confirmed.status, 200);
});
