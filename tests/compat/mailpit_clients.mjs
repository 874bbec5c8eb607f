// Lists, waits, searches, reads and deletes by the client mailpit-api, as it is.
import assert from "node:assert/strict";
import { MailpitClient } from "mailpit-api";

const [, http] = process.argv.slice(2);
const mailpit = new MailpitClient(`http://${http}`);
const ids = (list) => list.messages.map((mail) => mail.MessageID);

const list = await mailpit.listMessages(0, 2);
assert.deepEqual([list.total, list.messages_count, ids(list)], [3, 3, ["2@example.org", "1@example.org"]]);
assert.ok(Math.abs(Date.parse(list.messages[0].Created) - Date.now()) < 120_000);
assert.match(list.messages[0].Snippet, /^Your code is 123452\./);
assert.equal((await mailpit.getInfo()).Messages, 3);

const search = async (query) => ids(await mailpit.searchMessages({ query }));
assert.deepEqual(await search("to:bob@example.test"), ["2@example.org", "1@example.org"]);
assert.deepEqual(await search('subject:"code ✓ 0" from:shop'), ["0@example.org"]);
assert.deepEqual(await search("to:ann@example.test !to:bob"), ["0@example.org"]);
assert.deepEqual(await search('"code is 123451"'), ["1@example.org"]);
assert.deepEqual(await search("to:nobody"), []);
await assert.rejects(search("tag:x"), /400.*the search filter 'tag:' is not supported/s);

const found = await mailpit.waitForMessage({ query: "subject:1 to:ann@example.test" });
assert.equal(found.MessageID, "1@example.org");
assert.match(found.HTML, /<b>123451<\/b>/);
const blob = await mailpit.getMessageAttachment(found.ID, found.Attachments[0].PartID);
assert.deepEqual([blob.type, await blob.text()], ["application/pdf", "%PDF-1.4"]);
assert.deepEqual((await mailpit.getMessageHeaders())["Message-Id"], ["<2@example.org>"]);
assert.match(await mailpit.getMessageSource(found.ID), /\r\nMessage-ID: <1@example\.org>\r\n/);
await assert.rejects(mailpit.getMessageSummary("no-such-id"), /404/);

await mailpit.deleteMessagesBySearch({ query: "subject:1" });
assert.deepEqual(ids(await mailpit.listMessages()), ["2@example.org", "0@example.org"]);
await mailpit.deleteMessages({ IDs: [(await mailpit.listMessages()).messages[1].ID] });
assert.deepEqual(ids(await mailpit.waitForMessages({ count: 1, exact: true })), ["2@example.org"]);
assert.equal(await mailpit.deleteMessages(), "ok");
assert.equal((await mailpit.listMessages()).total, 0);
console.log("mailpit-api lists, waits, searches, reads and deletes");
