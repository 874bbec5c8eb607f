import './tempmail.cypress.mjs'; // In a project this line is in cypress/support/e2e.js.

const post = (path, body) => cy.request({ method: 'POST', url: `${Cypress.env('APP_URL')}${path}`, form: true, body });

describe('sign up', () => {
  for (const isPrivate of [false, true]) {
    it(`confirms an address, private: ${isPrivate}`, () => {
      cy.newInbox({ isPrivate }).then((inbox) => {
        post('/sign-up', { email: inbox.address });
        cy.waitForCode(inbox).then((code) => {
          post('/confirm', { email: inbox.address, code }).its('status').should('eq', 200);
        });
        if (isPrivate) cy.endInbox(inbox);
      });
    });
  }

  it('welcomes a visitor', () => {
    cy.newInbox().then((inbox) => {
      post('/sign-up', { email: inbox.address });
      cy.waitForMail(inbox, { subject: 'welcome' }).then(({ id }) => {
        cy.listMail(inbox, { subject: 'welcome' }).its('length').should('eq', 1);
        cy.waitForLink(inbox).should('eq', 'https://app.test/verify?token=8f2a3c4d5e6b');
        cy.readMail(inbox, id).its('subject').should('eq', 'Welcome');
        cy.deleteMail(inbox, id).should('eq', 1);
      });
    });
  });
});
