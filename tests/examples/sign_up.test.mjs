import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { Tempmail } from './tempmail.mjs';

let tempmail;
before(async () => { tempmail = await Tempmail.start(); });
after(() => tempmail.stop());

const { APP_URL } = process.env;
const post = (path, form) => fetch(`${APP_URL}${path}`, { method: 'POST', body: new URLSearchParams(form) });

for (const isPrivate of [false, true]) {
  test(`a visitor signs up, private: ${isPrivate}`, async () => {
    const inbox = await tempmail.inbox({ isPrivate });
    await post('/sign-up', { email: inbox.address });
    const code = await inbox.waitForCode();
    const confirmed = await post('/confirm', { email: inbox.address, code });
    assert.equal(confirmed.status, 200);
    await inbox.end();
  });
}

test('a visitor is welcome', async () => {
  const inbox = await tempmail.inbox();
  await post('/sign-up', { email: inbox.address });
  const { id } = await inbox.wait({ subject: 'welcome' });
  assert.ok((await inbox.list({ from: 'no-reply@' })).some((mail) => mail.id === id));
  assert.match((await inbox.read(id)).bodyText, /founded/);
  assert.equal(await inbox.waitForLink(), 'https://app.test/verify?token=8f2a3c4d5e6b');
  assert.equal(await inbox.delete(id), 1);
});
