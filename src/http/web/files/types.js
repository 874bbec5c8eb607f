/**
 * The bodies of the interface, for the checker of types alone. The interface's description says what each field means.
 *
 * @typedef {{code: string, kind: string, confidence: number}} Code
 * @typedef {{url: string, kind: string, confidence: number, text: string}} Link
 * @typedef {{name: string, address: string}} NamedAddress
 * @typedef {{index: number, filename: string, contentType: string, size: number}} Attachment
 *
 * @typedef {object} ListedEmail
 * @property {string} id
 * @property {string} from
 * @property {string} subject
 * @property {string} receivedAt
 * @property {string} expiresAt
 * @property {string} [recipient] In the list of all mail.
 * @property {string} [fromName] This and the others are in the list of one inbox.
 * @property {string} [preview]
 * @property {number} [attachmentCount]
 * @property {Code[]} [codes]
 *
 * @typedef {object} EmailPage
 * @property {ListedEmail[]} emails
 * @property {number} [total] Without it the caller may not know.
 * @property {string} [nextCursor] Of the next page of one inbox.
 * @property {string | null} [next] Of the next page of all mail.
 *
 * @typedef {object} Email
 * @property {string} id
 * @property {string} recipient
 * @property {string} from
 * @property {string} subject
 * @property {string} message
 * @property {string} bodyText
 * @property {string} receivedAt
 * @property {string} expiresAt
 * @property {number} size
 * @property {{from: NamedAddress[], to: NamedAddress[], cc: NamedAddress[], replyTo: NamedAddress[]}} header
 * @property {{name: string, value: string}[]} headers
 * @property {Attachment[]} attachments
 * @property {Code[]} codes
 * @property {Link[]} links
 * @property {{reversePath: string, client: string, helo: string, protocol: string}} envelope
 * @property {Authentication} [authentication]
 *
 * @typedef {{result: string, domain: string}} Checked
 *
 * @typedef {object} Authentication Who really sent a mail.
 * @property {string} verified
 * @property {Checked} spf
 * @property {Checked[]} dkim
 * @property {Checked} dmarc
 * @property {Checked} arc
 *
 * @typedef {object} Lease A private inbox.
 * @property {string} address
 * @property {string} heldUntil
 * @property {number | null} idleSeconds
 *
 * @typedef {object} Domain
 * @property {string} domain
 * @property {'active' | 'deactivated'} status
 * @property {string | null} addedAt
 * @property {string | null} lastCheckedAt
 * @property {string | null} lastCheckResult
 *
 * @typedef {{ok: boolean, message: string, domain: string, expected: string[], found: string[]}} DnsCheck
 *
 * @typedef {object} Webhook
 * @property {string} id
 * @property {string} url
 * @property {boolean} signed
 * @property {'active' | 'disabled'} status
 * @property {string} createdAt
 * @property {string | null} lastDeliveryAt
 * @property {number} failures
 * @property {string} [disabledReason]
 *
 * @typedef {'open' | 'token' | 'off'} Access
 *
 * @typedef {object} Index
 * @property {string} version
 * @property {number} revision
 * @property {{domains: Access, delete: Access, read: Access, webhooks?: Access}} public
 * @property {boolean} [allMail] Whether this caller may read the mail of all addresses.
 * @property {boolean} [publicInboxes] Whether addresses take mail that are not private.
 * @property {{messageOctets: number, retentionSeconds: number, privateInboxSeconds: number, pageSize: number, requestsPerMinute: number | null}} limits
 *
 * @typedef {{address: string, messages: number, newest: string, octets: number}} Mailbox
 *
 * @typedef {{everySeconds: number, received: number[], refused: number[], delivered: number[], failed: number[],
 *   stored: number[], octets: number[]}} History The last hour in intervals, the latest last.
 */

/**
 * A view: what stands in the middle of the page.
 *
 * @typedef {object} View
 * @property {string} title The title of the tab.
 * @property {HTMLElement} element
 * @property {Record<string, () => void>} [keys] What keys do, beside those of the whole page.
 * @property {(words: string[]) => boolean} [follow] Shows another place of the same view; false if it is another view's.
 */

/**
 * Where the mails of a list come from.
 *
 * @typedef {object} Source
 * @property {string} name What the list is called for screen readers.
 * @property {string} place The place of the list in the page. That of a mail is below it.
 * @property {(part: {cursor: string, limit: number, fields: string}) => string} page The path of a page.
 * @property {boolean} hasFields Whether a page can have some of the fields alone.
 * @property {(cursor: string) => string} [older] The path that deletes what is older.
 * @property {(mails: ListedEmail[]) => void} [arrived] Called when mail has arrived, with the newest first.
 */

/**
 * What a list of mails with the one that is open beside it is about.
 *
 * @typedef {object} ReadingOptions
 * @property {string[]} words The words of the place: the name of the view, and what else says which list it is.
 * @property {string} name What the title of the tab says.
 * @property {Source} source
 * @property {string} stream The path of the stream that tells of changes.
 * @property {number} [rest] How long the list rests between two changes at least, in milliseconds.
 * @property {(reading: import('./reading.js').Reading) => Node[]} head What stands above the list.
 * @property {() => Node[]} nothing What stands in place of no mail.
 * @property {() => void} [accepted] Called when the service has given the list.
 * @property {Record<string, () => void>} [keys] What further keys do.
 */

export {};
