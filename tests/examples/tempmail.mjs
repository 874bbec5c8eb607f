// Inboxes of tempmail for suites in Node. Copy this file beside your tests. For Playwright, Cypress and Testcontainers
// copy tempmail.playwright.mjs, tempmail.cypress.mjs or tempmail.testcontainers.mjs too, which need this one.
// In Vitest and Jest set `testTimeout` above that of a wait; Jest needs `node --experimental-vm-modules` for this file.
//
// The service is that of TEMPMAIL_URL, with a token or key in TEMPMAIL_TOKEN if it needs one. Without TEMPMAIL_URL one
// runs until `stop`: TEMPMAIL_BIN, or tempmail in PATH. It takes mail at `smtp`.
import { spawn } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

export class Tempmail {
  /** A service that runs: `url` is where it answers HTTP, `smtp` where it takes mail (HOST:PORT, if somebody said). */
  constructor(url, smtp, stop = async () => {}) {
    Object.assign(this, { url, smtp, stop });
  }

  /** The service of TEMPMAIL_URL, or one of its own, which runs until `stop`. */
  static async start() {
    const { TEMPMAIL_URL, TEMPMAIL_SMTP, TEMPMAIL_BIN = 'tempmail' } = process.env;
    if (TEMPMAIL_URL) return new Tempmail(TEMPMAIL_URL, TEMPMAIL_SMTP);
    const directory = await mkdtemp(join(tmpdir(), 'tempmail-'));
    const listen = ['--smtp-listen', '127.0.0.1:0', '--http-listen', '127.0.0.1:0'];
    const options = ['--dev', '--log-format', 'json', ...listen, '--data-dir', join(directory, 'data')];
    const child = spawn(TEMPMAIL_BIN, ['serve', ...options], { stdio: ['ignore', 'ignore', 'pipe'] });
    const ended = new Promise((resolve) => child.once('close', resolve).once('error', resolve));
    const kill = () => child.kill();
    process.once('exit', kill);
    const stop = async () => {
      process.off('exit', kill);
      child.kill();
      await ended;
      await rm(directory, { recursive: true, force: true });
    };
    try {
      const ready = await new Promise((resolve, reject) => {
        let said = '';
        createInterface(child.stderr).on('line', (line) => {
          const entry = line.startsWith('{') ? JSON.parse(line) : {};
          if (entry.message === 'ready') resolve(entry);
          else said = `${said}${line}\n`.slice(-4096);
        });
        ended.then((why) => reject(new Error(`tempmail does not start: ${said || why}`)));
        setTimeout(() => reject(new Error(`tempmail is not ready: ${said}`)), 60_000).unref();
      });
      const [smtp, http] = [ready.smtp, ready.http].map((list) => list.split(',')[0]);
      return new Tempmail(`http://${http}`, smtp, stop);
    } catch (error) {
      await stop();
      throw error;
    }
  }

  /** The JSON of an answer, or null if it has no content. */
  async ask(method, path, { key = process.env.TEMPMAIL_TOKEN, body, ...query } = {}) {
    const headers = { 'Content-Type': 'application/json', ...(key && { Authorization: `Bearer ${key}` }) };
    const url = `${this.url}${path}?${new URLSearchParams(query)}`;
    const answer = await fetch(url, { method, headers, body: body && JSON.stringify(body) });
    if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${await answer.text()}`);
    return answer.status === 204 ? null : answer.json();
  }

  /** A new address. Only its key and the administrator read the mail of a private one, which lives for an hour. */
  async inbox({ isPrivate = false } = {}) {
    const made = isPrivate
      ? await this.ask('POST', '/api/addresses', { body: { forSeconds: 3600 } })
      : await this.ask('GET', '/api/addresses/random');
    return new Inbox(this, made.address, made.key, isPrivate);
  }
}

/** The mail of one address. */
export class Inbox {
  constructor(service, address, key, isPrivate) {
    Object.assign(this, { service, address, key, isPrivate });
  }

  ask(method, path, query) {
    return this.service.ask(method, path, { key: this.key, ...query });
  }

  /** The oldest mail that passes the filters (`subject`, `from`, `since`, `has`) within `timeout` seconds, at most 300. */
  async wait({ timeout = 60, ...filters } = {}) {
    const mail = await this.ask('GET', '/api/mail/wait', { to: this.address, timeout, ...filters });
    if (!mail) throw new Error(`no such mail for ${this.address} within ${timeout} s: ${JSON.stringify(filters)}`);
    return mail;
  }

  /** The best code of the oldest mail that has one. */
  async waitForCode(filters) {
    return (await this.wait({ has: 'code', ...filters })).codes[0].code;
  }

  /** The best link of the oldest mail that has one. */
  async waitForLink(filters) {
    return (await this.wait({ has: 'link', ...filters })).links[0].url;
  }

  /** The newest hundred mails, newest first, without details. */
  async list(filters) {
    return (await this.ask('GET', '/api/mail/messages', { to: this.address, limit: 100, ...filters })).emails;
  }

  /** One mail, with its text, headers, codes, links and attachments. */
  read(id) {
    return this.ask('GET', `/api/mail/messages/${id}`);
  }

  /** Deletes one mail, or all of the address. Returns how many there were. */
  async delete(id) {
    return (await this.ask('DELETE', '/api/mail/delete', id ? { id } : { to: this.address })).deleted;
  }

  /** Ends a private inbox. A public one has no end. */
  async end() {
    if (this.isPrivate) await this.ask('DELETE', '/api/addresses', { address: this.address });
  }
}
