//! tempmail: disposable mail in one binary.
//!
//! This page is the architecture: where things are, how a message goes through them, and what must stay true. What the
//! program does for its users is in `README.md`.
//!
//! # Aims
//!
//! 1. Mail that got a 250 is there until it expires or somebody deletes it, whatever crashes.
//! 2. Nothing from outside has the memory, the time or the disk without a bound.
//! 3. One binary that runs without a configuration file, a database server or a domain.
//! 4. A newcomer finds the home of any line in ten seconds: the folders are the architecture, split by noun.
//! 5. What decides is pure and tested without sockets; what does I/O is thin.
//!
//! # The ten-second table
//!
//! | Question | File |
//! |---|---|
//! | What does the command line accept, which commands are there? | `cli/mod.rs`, then one file per noun |
//! | What is a setting's default, what are its bounds? | `config/settings/` by subject, `config/mod.rs` (`Config::of_revision`) |
//! | Which setting wins, which contradict each other? | `config/load.rs`, `config/check.rs` |
//! | What happens at the start and at the stop? | `cli/serve.rs`, `daemon/mod.rs`, `daemon/assembly.rs` |
//! | Which exit code does an error have? | `error.rs` |
//! | What is said to a sender, and when? | `smtp/reply.rs`, `smtp/session.rs` |
//! | Why is a client, a sender, a recipient refused? | `smtp/policy/rules.rs`, `domains/table.rs` |
//! | When is a mailbox or a domain full, what makes way? | `store/index/caps.rs`, `store/index/emails_of.rs` |
//! | Who is the client behind a proxy? | `smtp/entrance.rs`, `smtp/proxy.rs` |
//! | Which certificate is served, when is it read again? | `tls/keeper.rs`, `tls/certificate.rs` |
//! | Where do the sockets come from? | `daemon/listeners.rs`, `daemon/inherited.rs` |
//! | Where does a message end? How long may its lines be? | `smtp/data.rs` (DATA), `smtp/chunk.rs` (BDAT); `smtp/text.rs` |
//! | What is a transaction, what ends it? | `smtp/session/transaction.rs` |
//! | Which word does a Received field have after `with`? | `model/protocol.rs` |
//! | Which mailbox does an address mean? | `model/address.rs` (`Address::mailbox`) |
//! | When is a message durable? | `store/embedded/writer.rs`, `store/journal/mod.rs` (`Journal::append`) |
//! | What is on the disk, octet by octet? | `store/journal/record.rs`, `store/index/tables.rs` |
//! | What does a change do to the index? | `store/index/apply.rs` |
//! | What happens when the index or the writer fails? | `store/embedded/recovery.rs`, `daemon/mod.rs` (`stop_with_writer`) |
//! | What happens after a crash? | `store/embedded/open.rs`, `store/journal/replay.rs` |
//! | How many connections may a client have, how long may it take? | `smtp/admission.rs`, `smtp/pace.rs`, `smtp/rate.rs`, `smtp/patience.rs`; `config/bounds.rs` |
//! | Who goes when all places are taken? | `smtp/places.rs` |
//! | What is logged and counted of sessions? | `smtp/tally.rs` |
//! | What is a metric called, what counts it? | `http/metrics/catalogue.rs`; the room's `Counters`, read through `model/count.rs` |
//! | How much memory may messages take that are coming in, all and of one client? | `smtp/budget.rs` |
//! | How fast does expired mail go, when does it wait for the clock? | `expiry/pace.rs`, `expiry/guard.rs`, `expiry/kept.rs` |
//! | When does mail go, when does its space come back? When does an idle webhook go? | `expiry/mod.rs`, `expiry/sweep.rs`; `store/embedded/checkpoint.rs`, `store/embedded/punching.rs` |
//! | Which messages are copied so that a segment can go? | `store/embedded/relocation.rs`, `store/index/relocation.rs` |
//! | When is mail refused for want of space? | `store/embedded/shared.rs` (`accepts`), `store/embedded/index_headroom.rs`, `store/journal/spare.rs` |
//! | What is a backup, octet by octet? What is in it? | `store/backup/format.rs`, `store/backup/source.rs` |
//! | What does `db check` compare? | `store/check/mod.rs`, `store/journal/walk.rs`, `store/index/audit.rs` |
//! | How does one store take the place of another? | `store/disk/staging.rs` |
//! | What do a mail's subject, body and attachments become? | `mime/mod.rs`, `mime/structure.rs`, `mime/limits.rs` |
//! | Which handler has a URL? | `http/mod.rs` (`router`), one file per resource |
//! | Which error code and status does HTTP give? | `http/problem.rs` |
//! | Who may ask, from which page, under which Host? | `http/edge.rs`, `http/host.rs`, `http/origin.rs`, `http/principal.rs` |
//! | Does a domain's MX point here? | `dns/mx.rs` (the decision), `dns/resolver.rs` (the questions) |
//! | When is a domain deactivated? | `domains/verifier.rs`, `domains/round.rs` |
//! | Which webhooks are told of a mail, when is an event dropped? | `store/index/outbox.rs` (`webhooks_to_tell`), `store/index/room.rs`, `store/index/weights.rs` (who holds most), `store/embedded/drops.rs` (what the log says) |
//! | Who may register how many webhooks, who makes way? | `store/index/webhook_places.rs`, `http/registrations.rs` |
//! | In which order do events wait, how much is kept of a delivery log? | `store/index/events.rs`, `store/index/log.rs` |
//! | What does an event look like, octet by octet? | `webhook/request.rs` (`prepare`), `webhook/sign.rs` |
//! | How is a request made, on which connection? | `webhook/call.rs`, `webhook/connection.rs` |
//! | What sends a sample event? | `webhook/tester.rs` |
//! | Which events are in memory, whose turn is it? | `webhook/dispatcher.rs` (the loop), `webhook/queue.rs` |
//! | How many attempts at once, in how much memory? | `webhook/queue.rs`, `webhook/places.rs` |
//! | What may an address be sent, on probation and after? | `webhook/addresses.rs` |
//! | Until when does a webhook rest? | `webhook/rest.rs`; whose receiver asked for it, after a start `store/index/webhook_rows.rs` (`rests_at`) |
//! | When is an event tried again, when does it end? | `webhook/schedule.rs`, `webhook/outcome.rs`, `webhook/attempt.rs` (`record`) |
//! | When is a webhook disabled? Which ended events can be sent again? | `store/index/outbox.rs` (`note_attempt`), `store/index/replay.rs` |
//! | Where may a webhook lead? | `webhook/target.rs`, `webhook/guard/mod.rs`, `webhook/guard/ranges.rs`, `webhook/dial.rs` |
//! | How does a command reach the service? | `client/choice.rs`, `client/transport.rs` |
//!
//! # The way of a message
//!
//! ```text
//! peer -> smtp/entrance    smtp/admission: the client's own limits, or 421; a place of max-smtp-connections (smtp/places),
//!                          free or made free, or 421; where a proxy is trusted its header comes before either;
//!                          TLS where it comes first
//!      -> smtp/connection  reads and writes with a timeout; the only part of SMTP that waits
//!      -> smtp/session     EHLO MAIL RCPT DATA or BDAT (pure: octets in, replies and steps out)
//!                          MAIL asks smtp/policy whether the store has room, RCPT whether the domain is active and the
//!                          mailbox not full, DATA and BDAT for a share of the memory (smtp/budget), given back when the
//!                          store has answered
//!      -> Delivery         envelope with an id per recipient, octets as sent, received_at, expires_at
//!      -> Store::receive   a Change in a queue of 64 MB; whoever brings more waits, and its peer with it
//!      -> writer thread    takes what is queued as one group: append to the journal, ONE fdatasync,
//!                          then one redb transaction that makes it visible: a row and an id per recipient
//!      -> 250              full: 452 4.3.1, mailbox full: 452 4.2.2   failed: 451 4.3.0   stopping: 421 4.3.2   unknown: no reply
//! ------------------------------------------------------------------ the sender's part ends here
//!      -> http, cli        rows from the index, octets from the journal by one pread
//!      -> mime             only when somebody reads, on two threads of its own. The octets are the truth
//!      -> expiry           removes what is due, in small steps between the writer's groups
//! ```
//!
//! Commands that are about mail or domains are HTTP requests to [`http::router`] over one of three transports of
//! [`client`]: TCP with `--server`, the daemon's Unix socket, or the router in the command's own process over the store
//! that it opens. What SMTP and HTTP know of domains is one table in memory ([`domains::DomainTable`]).
//!
//! # The way of an event
//!
//! ```text
//! Change::Received  applied: a row per Email, and per webhook of its mailbox a row of the outbox, in one transaction.
//!                   The message's record has a share for each Email and each event; its octets go with the last share
//!                   -> 250; nothing was parsed, nobody was called
//! -------------------------------------------------------------------------------------------------
//! webhook/dispatcher  is woken by a hint that may be lost, and looks by itself every 5 s and when something is due: one row
//!                     per webhook that has events, then a page of each, 32 at most
//!      -> queue       whose turn is it: origins (scheme, host, port) take turns, and the webhooks in one. 4 in flight at
//!                     each, 1 until one has succeeded and after a failure; places: half of them for those that were not
//!                     prompt, none for who is slow
//!      -> attempt     Claim: what is told to whom
//!           request   the message is read and parsed: body, headers, signatures; then the store says once more whether the
//!                     event still waits
//!           call      the guard and the address's probation on the address that is dialled or was, one POST under bounds
//!           record    outcome, schedule: what ends the event or sets when it is due again, the log's line, and until when the
//!                     webhook rests if its receiver asked for that; 32 at most in one Change, which goes as soon as one
//!                     of those before it is done. 16 at an origin may be unrecorded
//! ```
//!
//! The outbox is the only copy: what the dispatcher holds is a hint, checked right before the call, and a crash between call
//! and record sends the event again under the same id, which is a keyed hash of webhook and Email and so needs no row.
//! Deleting or expiring a message releases the Email's share, not the event's. A replay gives a message that is still there
//! another share. A change ends some hundred events at most; a webhook that has more is deleted or disabled by a series of
//! changes, and what is cut off of one is ended by expiry.
//!
//! # Start and stop
//!
//! `cli/serve` loads the settings, raises the limit of open files, binds every listener, takes the lock of the data
//! directory (5 s of patience), opens the store with its replay, binds the control socket, puts the parts together and
//! says where everything is. Nothing has answered anybody before all of that has worked. `Daemon::run` then runs six
//! parts: SMTP, HTTP over TCP, HTTP over the socket, verification, webhooks (not in revision 1), expiry; a seventh tells the
//! service manager that asks for it (`daemon/supervisor`).
//!
//! SIGTERM or SIGINT cancels one token. Listeners close and the workers end at once; sessions and requests have 8 s for
//! their last answers, attempts to tell webhooks 3 s for their ends; then the store closes: what is queued is committed, a checkpoint is made, the index is closed.
//! Verification, webhooks, the watch over the certificate and expiry begin anew after a panic, with growing rests; a part
//! that listens and ends by one, or the store's writer, cancels the token for all, and the program ends with 1. Panics
//! are logged and counted by a hook ([`panics`]). A second signal ends the process; the next start replays.
//!
//! # The store
//!
//! A journal for the truth, redb for the questions. Every write is one value of the enum `Change`; applying the same
//! changes in the same order decides the same again, so replay needs nothing else. The journal is a row of preallocated
//! files (segments); a group is written with one fdatasync and a CRC-32C per group header, record header and content.
//! Once anything about a segment is in doubt (an open, a failed append, a failed sync) it is never written again, and the
//! header of the next one, durable before any group goes in, says up to where it counts. So replay can tell a torn end,
//! which nobody was told of, from damage, which stops the start.
//!
//! The index takes each group in one transaction with `Durability::None`, which also writes the journal position up to
//! which it is complete: it always knows what it holds and is never ahead of the journal. A checkpoint (every 32 MB,
//! after 2 s of quiet, after 15 s at most, at the stop) makes it durable with quick repair; then segments in which
//! nothing lives are unlinked, and what somebody deleted is punched out. All mail lives equally long, so what outlives its
//! segment is the messages of pending events: they are copied to the end of the journal, by changes like any other.
//!
//! A group that is durable is never given up. If the index fails after a good fdatasync, it is opened again and the journal
//! replayed onto it. The senders of the group are answered when the index shows it, or not at all, and reads fail meanwhile.
//! Only who answers for a file's content syncs it: the writer for the segment in use, the puncher for older ones. What a
//! process finds in a journal that another one wrote may be in memory alone; it is written again before anything follows it.
//!
//! All I/O goes through the small trait [`store::disk::Disk`], which redb's storage is built on as well; crash images and
//! faults are made there. The trait [`store::Store`] shows no type of redb, takes ids and times from its caller and
//! decides by `now` what is readable, so that a cluster can stand behind it.
//!
//! Where it was built differently from its first plan, and why:
//!
//! * Keys begin with 128 bits of a keyed hash of the mailbox instead of a short id: one table and its upkeep less, and
//!   nobody can choose two mailboxes that meet.
//! * Expiry has a row per group and second that holds up to 64 keys, not a row per mail: rows that append.
//! * Segments are filled with zeros, since the first fdatasync into allocated but unwritten extents costs 0.33-0.45 ms per
//!   group of 84 KB against 0.17 ms where zeros were written before (ext4): the file system has its own journal to write.
//! * A changed retention is applied once, when the store is opened, so that the expiry in the index is the one in effect.
//!
//! # What must stay true
//!
//! 1. No 250 before the fdatasync that covers the message has returned and the index shows it; `Session::stored` is the
//!    one place that says it. After any 4yz the message is not in the store; where that is not certain, nothing is said.
//! 2. A MIME error never loses, refuses or delays a mail. Any octets give an Email with what could be read.
//! 3. What must survive a crash is in the journal, in the same record as its cause.
//! 4. `model`, `mime`, the protocol of SMTP (`session` and what it is made of), its bounds (`admission`, `holdings`, `pace`,
//!    `rate`), `policy`,
//!    `dns/mx`, `domains/round` and, of `webhook`, `sign`, `schedule`, `guard/ranges`, `target`, `addresses`,
//!    `places`, `queue`, `rest`, `request` and `outcome` do no I/O and read no clock: `now`
//!    is an argument. (`policy` asks the store whether there is room on the disk and under the caps, through its trait; the
//!    store then asks the file system.)
//! 5. `store` knows neither SMTP nor HTTP nor MIME nor how webhooks are sent; `smtp` and `http` do not know each other;
//!    `webhook` knows neither.
//! 6. Each of these dependencies has one home: redb in `store/index`, smtp-proto in `smtp`, mail-parser in `mime`, hickory in
//!    `dns`, reqwest in `client`, comfy-table and indicatif in `cli/output`, clap in `cli` and `config`,
//!    aws-lc-rs (which rustls brings along) in `webhook/sign`, base64 there and in `smtp/auth`, rcgen and x509-cert in `tls`, listenfd in
//!    `daemon/inherited`, prometheus in `http/metrics`.
//! 7. No statics, no globals: two daemons run in one process (the tests do that). Only the log and the hook for panics are the process's.
//!    Counters are atomics in a struct that their room is given, read through [`model::Counts`].
//! 8. Time, octets and units are in names: `…_at`, `…_octets`, `Duration`.
//! 9. Everything from outside has a bound: line, command, message, header section, parts, depth, recipients, connections,
//!    JSON body, answer, time.
//! 10. An answer that DNS did not give deactivates no domain.
//! 11. No request leaves for an address that `webhook/guard` has not permitted at that moment: `webhook/call` alone sends to
//!     URLs of strangers, and only `webhook/dial` opens its connections.
//! 12. A secret becomes a key in `webhook/sign` and is shown nowhere; `Debug` of what holds one does not show it.
//!
//! `tests/it/layout.rs` reads the sources for 4 to 6.
//!
//! # Which module may know which
//!
//! ```text
//! cli       client, config, daemon, webhook (`webhook listen`, the form of a secret), tls (SIGHUP), error, logging, process; never the store
//! client    http (the router's types), daemon (to assemble one in-process), config, store, model
//! daemon    everybody: the only one who puts parts together
//! http      store, domains, dns (reports), mime, webhook (the guard, a test), tls (its state), config, model
//! webhook   store (the outbox), expiry (the guard against a clock that steps), mime, dns (the resolver), tls (whom the machine trusts), config (how durations read), model
//! smtp      store, domains (the table), tls, config, model
//! domains   dns, store, config, model
//! expiry    store, model
//! store     config, model
//! tls       model
//! dns, mime model at most
//! model     nobody
//! ```
//!
//! `clock` is known to whoever needs the time and is not pure; `panics` to who starts the daemon and who shows its status; `error` knows the errors that end the program.
//!
//! # Where other dependencies live
//!
//! axum in `http` (`client` and `daemon` hold its `Router`), hyper there and in `webhook`, toml in `config`, html2text in `cli/html`, idna and uuid in
//! `model`, chrono in `model/time` and `cli/output`, crc32c in `store/journal`, postcard in `store`, rcgen and x509-cert in `tls`, rustls in `tls` and `smtp` (`webhook` makes its handshakes through tokio-rustls), listenfd in `daemon/inherited`, siphasher in `store/index`
//! and `client` (the name of a socket), ipnet in `config`, `smtp` and `webhook`, url in `webhook` and `client`, httpdate in `webhook`, rustix where the system is asked: `clock`, `process`, `store/disk`, `config`,
//! `cli/context`, `client/choice`.

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
