// Inboxes of tempmail as commands of Cypress. Copy this file to cypress/support/ and import it in e2e.js there. Copy
// tempmail.mjs beside cypress.config.mjs, which says where the service is:
//
//   import { defineConfig } from 'cypress';
//   import { Tempmail } from './tempmail.mjs';
//   const tempmail = await Tempmail.start();
//   export default defineConfig({ e2e: { setupNodeEvents(on, config) {
//     on('after:run', () => tempmail.stop());
//     Object.assign(config.env, { TEMPMAIL_URL: tempmail.url, TEMPMAIL_TOKEN: process.env.TEMPMAIL_TOKEN });
//     return config;
//   } } });
//
// A test of it is sign_up.cy.mjs.

function ask(method, path, { key = Cypress.env('TEMPMAIL_TOKEN'), body, ...qs }, timeout = 30) {
  const headers = key ? { Authorization: `Bearer ${key}` } : {};
  const url = `${Cypress.env('TEMPMAIL_URL')}${path}`;
  return cy.request({ method, url, qs, body, headers, timeout: (timeout + 5) * 1000 }).its('body');
}

/** A new address. Only its key and the administrator read the mail of a private one, which lives for an hour. */
Cypress.Commands.add('newInbox', ({ isPrivate = false } = {}) => (isPrivate
  ? ask('POST', '/api/addresses', { body: { forSeconds: 3600 } })
  : ask('GET', '/api/addresses/random', {})).then(({ address, key }) => ({ address, key })));

/** The oldest mail that passes the filters (`subject`, `from`, `since`, `has`) within `timeout` seconds, at most 300. */
Cypress.Commands.add('waitForMail', ({ address, key }, { timeout = 60, ...filters } = {}) =>
  ask('GET', '/api/mail/wait', { key, to: address, timeout, ...filters }, timeout).then((mail) => {
    if (!mail?.id) throw new Error(`no such mail for ${address} within ${timeout} s`);
    return mail;
  }));

/** The best code of the oldest mail that has one. */
Cypress.Commands.add('waitForCode', (inbox, filters) =>
  cy.waitForMail(inbox, { has: 'code', ...filters }).then(({ codes }) => codes[0].code));

/** The best link of the oldest mail that has one. */
Cypress.Commands.add('waitForLink', (inbox, filters) =>
  cy.waitForMail(inbox, { has: 'link', ...filters }).then(({ links }) => links[0].url));

/** The newest hundred mails, newest first, without details. */
Cypress.Commands.add('listMail', ({ address, key }, filters) =>
  ask('GET', '/api/mail/messages', { key, to: address, limit: 100, ...filters }).its('emails'));

/** One mail, with its text, headers, codes, links and attachments. */
Cypress.Commands.add('readMail', ({ key }, id) => ask('GET', `/api/mail/messages/${id}`, { key }));

/** Deletes one mail, or all of the address. Yields how many there were. */
Cypress.Commands.add('deleteMail', ({ address, key }, id) =>
  ask('DELETE', '/api/mail/delete', { key, ...(id ? { id } : { to: address }) }).its('deleted'));

/** Ends a private inbox. */
Cypress.Commands.add('endInbox', ({ address, key }) => ask('DELETE', '/api/addresses', { key, address }));
