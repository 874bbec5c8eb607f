// Inboxes of tempmail as fixtures of Playwright. Copy this file and tempmail.mjs beside your tests, and take `test` from
// here: import { expect, test } from './tempmail.playwright.mjs';
import { test as base } from '@playwright/test';
import { Tempmail } from './tempmail.mjs';

export { expect } from '@playwright/test';
export const test = base.extend({
  // A service for each worker. An application that runs outside of it needs one of TEMPMAIL_URL.
  tempmail: [async ({}, use) => {
    const service = await Tempmail.start();
    await use(service);
    await service.stop();
  }, { scope: 'worker' }],
  inbox: async ({ tempmail }, use) => use(await tempmail.inbox()),
  privateInbox: async ({ tempmail }, use) => {
    const inbox = await tempmail.inbox({ isPrivate: true });
    await use(inbox);
    await inbox.end();
  },
});
