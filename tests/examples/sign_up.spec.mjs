import { expect, test } from './tempmail.playwright.mjs';

const { APP_URL } = process.env;

async function signUp(request, inbox) {
  await request.post(`${APP_URL}/sign-up`, { form: { email: inbox.address } });
  const code = await inbox.waitForCode();
  const confirmed = await request.post(`${APP_URL}/confirm`, { form: { email: inbox.address, code } });
  expect(confirmed.status()).toBe(200);
}

test('a visitor signs up', async ({ request, inbox }) => {
  await signUp(request, inbox);
  expect(await inbox.waitForLink()).toBe('https://app.test/verify?token=8f2a3c4d5e6b');
  expect(await inbox.delete()).toBe(2);
});

test('a visitor signs up in private', ({ request, privateInbox }) => signUp(request, privateInbox));
