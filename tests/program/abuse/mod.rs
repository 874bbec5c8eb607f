//! What strangers do to `tempmail serve` as a process: crowds and silence, hostile requests and mail.
//! They take longest, and tests run in the order of their names.

mod answers;
mod clients;
mod hostile_http;
mod hostile_mail;
mod memory;
