//! tempmail: disposable mail in one binary.
//!
//! This page is the architecture: the way of a message and of an event, what must stay true, and who may know whom. Each
//! module's own page has the map of its files. The guides in `man/guide` say what the program does for its users.
//!
//! # The way of a message
//!
//! ```text
//! peer -> smtp/accept      the limits of the client and a free slot, or 421; a PROXY header and TLS where they come first
//!      -> smtp/connection  reads and writes with a timeout; the only part of SMTP that waits
//!      -> smtp/session     EHLO MAIL RCPT DATA or BDAT, pure: octets in, replies and steps out.
//!                          MAIL asks smtp/policy whether the store has room, RCPT whether domain and mailbox take mail,
//!                          DATA and BDAT reserve memory (smtp/budget) until the store has answered
//!      -> Delivery         envelope with an id per recipient, octets as sent, received_at, expires_at
//!      -> Store::receive   a Change in a queue of 64 MB; whoever brings more waits, and its peer with it
//!      -> writer thread    takes what is queued as one group: append to the journal, ONE fdatasync,
//!                          then one redb transaction that makes it visible: a row and an id per recipient
//!      -> 250              full: 452 4.3.1, mailbox full: 452 4.2.2, failed: 451 4.3.0, stopping: 421 4.3.2, unknown: no reply
//! ------------------------------------------------------------------ the sender's part ends here
//!      -> http, cli        rows from the index, octets from the journal by one pread
//!      -> mime             only when somebody reads, on two threads of its own
//!      -> expiry           removes what is due, in small steps between the writer's groups
//! ```
//!
//! Commands about mail or domains are HTTP requests to [`http::router`] over one of three transports of [`client`]: TCP, the
//! daemon's Unix socket, or the router in the command's own process over the store that it opens.
//!
//! # The way of an event
//!
//! ```text
//! Change::Received  applied: a row per Email, and per webhook of its mailbox a row of the outbox, in one transaction.
//!                   The message's record has a share for each Email and each event; its octets go with the last share
//!                   -> 250; nothing was parsed, nobody was called
//! -------------------------------------------------------------------------------------------------
//! webhook/dispatcher  is woken by a hint that may be lost. It also scans every 5 s and when an event is due: one row per
//!                     webhook that has events, then a page of each, at most 32
//!      -> queue       origins (scheme, host, port) take turns, and so do the webhooks of one. At most 4 attempts in flight
//!                     at each. Webhooks that failed or were slow get 1 of these together
//!      -> attempt     Claim: an event and its receiver
//!           request   the message is read and parsed: body, headers, signatures; then the store is asked once more whether
//!                     the event is still pending
//!           call      the guard, the rate limit of the address, one POST within limits of time and size
//!           record    outcome, schedule: the event ends or is due again, the log gets a line, and the webhook backs off if
//!                     its receiver asked for that. One Change has at most 32 records. While 8 attempts at an origin are
//!                     unrecorded, none begins there
//! ```
//!
//! The outbox is the only copy: what the dispatcher holds is a hint, checked right before the call, and a crash between call
//! and record sends the event again under the same id, which is a keyed hash of webhook and Email and so needs no row.
//! Deleting or expiring a message releases the Email's share, not the event's. A replay gives a message that is still there
//! another share. A change ends some hundred events at most; a webhook that has more is deleted or disabled by a series of
//! changes, and what is cut off of one is ended by expiry.
//!
//! # What must stay true
//!
//! 1. No 250 before the fdatasync that covers the message has returned and the index shows it; `Session::stored` alone says
//!    it. After a 4yz the message is not in the store. If that is uncertain, the connection closes without a reply.
//! 2. A MIME error never loses, refuses or delays a mail. Any octets give an Email with what could be read.
//! 3. What must survive a crash is in the journal, in the same record as its cause.
//! 4. What decides is pure: it does no I/O and reads no clock, `now` is an argument. `tests/it/layout.rs` lists these modules.
//! 5. Everything from outside has a bound in memory, time and disk.
//! 6. An error in DNS deactivates no domain.
//! 7. No request leaves for an address that `webhook/guard` has not permitted at that moment.
//! 8. A secret becomes a key in `webhook/sign`. No answer, no log line and no `Debug` shows it.
//! 9. No statics: two daemons run in one process. Only the log and the hook for panics belong to the process.
//! 10. Units are in names: `…_at`, `…_octets`, `Duration`.
//!
//! # Who may know whom
//!
//! ```text
//! cli       client, config, daemon, webhook (`webhook listen`, the form of a secret), tls (SIGHUP), error, logging, process; never the store
//! client    http (the router's types), daemon (to assemble one in-process), config, store, model
//! daemon    everybody: the only one that puts parts together
//! http      store, domains, dns (reports), mime, webhook (the guard, a test), tls (its state), config, model
//! webhook   store (the outbox), expiry (the guard against a clock that steps), mime, dns (the resolver), tls, config, model
//! smtp      store, domains (the table), tls, config, model
//! domains   dns, store, config, model
//! expiry    store, model
//! store     config, model
//! tls       model
//! dns, mime model at most
//! model     nobody
//! ```
//!
//! `clock` is for everybody who is not pure; `error` knows the errors that end the program. `tests/it/layout.rs` reads the
//! sources for these rules, and for the one home of each large dependency, such as redb in `store/index`.

pub mod cli;
pub mod client;
pub mod clock;
pub mod config;
pub mod daemon;
pub mod dns;
pub mod domains;
pub mod error;
pub mod expiry;
pub mod http;
pub mod logging;
pub mod mime;
pub mod model;
pub mod panics;
pub mod process;
pub mod smtp;
pub mod store;
pub mod tls;
pub mod webhook;
