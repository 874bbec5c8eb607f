//! tempmail: disposable mail in one binary.
//!
//! This page is the architecture: the way of a message and of an event, what must stay true, and who may know whom. Each
//! module's own page says how its files go together, and the first line of a file what it owns; `man/guide` has the guides
//! for users.
//!
//! # Three crates
//!
//! ```text
//! tempmail-intake   the rooms that take mail in and keep it, which `src/intake.rs` names. None of them reads a message or
//!                   speaks HTTP, so neither loses or delays a mail
//! tempmail-mime     octets to what a person reads, in `src/mime`. It knows no room
//! tempmail-server   this library `tempmail`, with the rooms that give mail out, the commands, and the daemon that runs all.
//!                   It shows the rooms of the others under the same names
//! ```
//!
//! Each room is a folder or a file of `src`, whichever crate it belongs to. An edit in one crate is tested without building
//! what stands above it.
//!
//! # The way of a message
//!
//! ```text
//! peer -> smtp/accept      asks admission for a place of this client and its network, or answers 421; reads a PROXY header
//!      -> smtp/session     on the thread of all sessions: a method for each command over pure parsers. smtp/io reads, writes,
//!                          and ends who is late. smtp/backend says whether the store has room, and whether domain and
//!                          mailbox take mail. The octets of a message take memory of admission as they arrive
//!      -> leases           leads each recipient to the mailbox of its lease, or to the one that anybody may read
//!      -> Delivery         envelope with an id per recipient, octets as sent, received_at, expires_at
//!      -> Store::receive   a request in a queue of 64 MB; when it is full, the session and its peer wait
//!      -> writer thread    takes queued requests as one group: decides the facts, appends them to the journal, ONE
//!                          fdatasync, then applies them to the rows in memory, which makes the group visible
//!      -> 250              or another reply; the SMTP guide has the most important
//! ------------------------------------------------------------------ the sender's part ends here
//!      -> events           hints to the requests that wait for this mailbox; each then looks at the store
//!      -> http             reads rows from memory, and reserves memory (http/memory) before it loads mail; cli asks it
//!      -> reader           loads and parses (mime) on one of a few threads, only when somebody reads the message; lists read
//!                          what is short and in the page cache by themselves
//!      -> sender           asks DNS who really sent a mail, when it is read for the first time
//!      -> expiry           removes Emails in small steps between the writer's groups; it follows from time alone
//! ```
//!
//! Commands about mail or domains are HTTP requests, which [`client`] sends over TCP or through the daemon's Unix socket.
//! Only `db check`, `db backup` and `db restore` open a store themselves.
//!
//! # The way of an event
//!
//! ```text
//! Change::Received  one fact has the Emails, and a pending event for each webhook of their mailboxes. Emails and events hold
//!                   the message in its segment; when the last of them goes, its octets are punched out
//!                   -> 250; nothing was parsed, and no receiver was called
//! -------------------------------------------------------------------------------------------------
//! webhook/dispatcher  wakes by a hint, every 5 s, and when an event is due, and runs a lane for each webhook that has one
//!      -> lane        attempts at the events of one webhook, the oldest first: at most 4 at once, and 1 after a failure
//!      -> attempt     takes a place, which admission has for good webhooks, doubtful ones and slow calls
//!           send      finds the way: the guard and the limits of the host have to permit it
//!           reader    reads the message if the event is still pending, and parses it
//!           request   makes body, headers and signatures
//!           post      one POST within limits of time and size, over a connection that ends with the attempt
//!           record    decides by outcome and schedule when the event ends or is retried, and writes the line of the log. The
//!                     lane goes on when that is stored
//! ```
//!
//! The outbox is the only copy of an event; the dispatcher's memory is a hint. After a crash between call and record the event
//! is sent again under the same id, a keyed hash of webhook and Email. An Email that goes leaves its events, which keep the
//! message. A replay adds an event about an Email that still exists.
//!
//! # In a cluster
//!
//! `store/cassandra` implements the traits of the store for several nodes that share their mail. Nothing above the store knows
//! which one it has. A quorum of servers takes the place of the fdatasync, and a time of the message that of the journal's
//! order: whatever repeats a write has the same timestamp, so a deletion wins.
//!
//! ```text
//! Store::receive   announces the mail in its mailboxes, numbers it above what they have, and writes its rows. One Email without
//!                  events is visible then, and otherwise one cell shows all. A reader waits for what is announced
//! log              each node writes what it did, as facts; all nodes apply all logs to rows in memory within some tenths of a
//!                  second: for those who wait, counts, caps and expiry
//! lead             one node verifies domains, sweeps, and sends events
//! ```
//!
//! # What must stay true
//!
//! 1. No 250 before the fdatasync that covers the message has returned and the rows show it; `smtp/session/transaction`
//!    alone says it. After a 4yz the message is not in the store, and if that is uncertain the connection closes without a
//!    reply. A cluster that is uncertain says 451, so that the sender sends again and the message may be there twice.
//! 2. A MIME error never loses, refuses or delays a mail. Any octets give an Email with what could be read.
//! 3. What must survive a crash is in the journal, in the same record as its cause, or was typed in and is in the registry.
//! 4. Modules that decide are pure: they do no I/O, read no clock and draw no random number; `now` is an argument.
//!    `tests/it/layout.rs` lists them.
//! 5. Everything from outside has a bound in memory, time and disk.
//! 6. An error in DNS deactivates no domain.
//! 7. No request leaves for an address that `webhook/guard` has not permitted a moment before.
//! 8. No answer, no log line and no `Debug` shows a secret. A token is shown once; only its hash is kept.
//! 9. No state in statics: two daemons run in one process. Only the log and the hook for panics belong to the process.
//! 10. Units are in names: `…_at`, `…_octets`, `Duration`.
//!
//! # Who may know whom
//!
//! ```text
//! cli       client, config, fault, daemon, webhook (`webhook listen`, the form of a secret), tls (SIGHUP), error, logging,
//!           process, panics, dns (`webhook listen`, `doctor`), mime (names of files, visible text), model; never the store
//! client    daemon (whether one listens), config, store (offline work), error, model
//! daemon    everybody: it makes listeners and store, and runs what serves
//! service   what it hands to each room: smtp, webhook, domains, leases, tokens, admission, store, tls, reader, sender, panics,
//!           connections, config, model
//! http      service, admission, store, events, domains, leases, tokens, fault, dns (reports), email, reader, mime, webhook
//!           (the guard, a test), tls (its state), connections, config, model
//! webhook   admission, store (the outbox), reader, email, mime, dns (the resolver), tls, model
//! smtp      admission, store, domains, leases, fault, tls, connections, config, model
//! leases    admission, domains, store, tokens (the form of a secret), config, model
//! domains   admission, dns, store, config, model
//! expiry    store, model
//! store     events, tls (a cluster's connections), config, model
//! tls       model
//! tokens    store, model
//! email     reader, mime, model
//! sender    admission, dns, webhook (which addresses are public), mime (limits, the field From), config, model
//! reader    mime
//! dns       model
//! mime      nobody
//! config    fault, model
//! fault     model
//! admission config, model
//! connections tls, config (endpoints), model
//! process   admission, config (how many files are open at most)
//! logging   config
//! events, random, clock  model
//! model     nobody
//! ```
//!
//! Every module that is not pure may use `clock`, `random`, `logging` and `process`, and every room `metrics` and `value`;
//! `cli` and `client` use `unfinished`.
//! `error` knows the errors that end the program. That no room of a lower crate knows one of a higher crate, the compiler checks;
//! `tests/it/layout.rs` checks the most important of the other rules, and the one home of each large dependency, such as redb
//! in `store/embedded/registry`.

pub mod cli;
pub mod client;
pub mod daemon;
pub mod email;
pub mod error;
pub mod http;
pub mod reader;
pub mod sender;
pub mod service;
mod unfinished;
pub mod webhook;

#[doc(no_inline)]
pub use tempmail_intake::{
    admission, clock, config, connections, dns, domains, events, expiry, fault, leases, logging, metrics, model,
    panics, process, random, smtp, store, tls, tokens, value,
};
#[doc(no_inline)]
pub use tempmail_mime as mime;
