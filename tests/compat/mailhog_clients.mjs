// Lists, searches, reads and deletes by the client mailhog, as it is.
import assert from "node:assert/strict";
import mailhog from "mailhog";

const [, http] = process.argv.slice(2);
const [host, port] = http.split(":");
const api = mailhog({ host, port: Number(port) });

const page = await api.messages(1, 1);
assert.deepEqual([page.total, page.count, page.start], [3, 1, 1]);
const [mail] = page.items;
assert.equal(mail.subject, "Your code ✓ 1");
assert.equal(mail.from, "Shop <shop@example.org>");
assert.equal(mail.to, "ann@example.test, bob@example.test");
assert.equal(mail.date.toISOString(), "2025-11-14T22:13:20.000Z");
assert.ok(Math.abs(mail.deliveryDate - Date.now()) < 120_000);
const [attachment] = mail.attachments;
assert.deepEqual([attachment.name, attachment.type], ["a b.pdf", "application/pdf"]);
assert.equal(api.decode(attachment.Body, attachment.encoding), "%PDF-1.4");

assert.match((await api.latestTo("bob@example.test")).Content.Headers["Message-ID"][0], /<2@/);
assert.equal((await api.latestFrom("shop@example.org")).subject, "Your code ✓ 2");
const first = await api.latestContaining("123450");
assert.match(first.Content.Body, /Your code is 123450\./);
const [alternative] = first.MIME.Parts;
const [text, html] = alternative.MIME.Parts;
assert.equal(text.Body.trim(), "Your code is 123450.");
assert.match(html.Body, /<b>123450<\/b>/);
assert.equal((await api.search("nobody", "to")).count, 0);

await api.deleteMessage(first.ID);
assert.equal((await api.messages()).total, 2);
await api.deleteAll();
assert.deepEqual((await api.messages()).items, []);
console.log("mailhog for JavaScript lists, searches, reads and deletes");
