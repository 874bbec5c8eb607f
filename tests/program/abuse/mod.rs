//! What strangers do to `tempmail serve` as a process: crowds and silence, hostile requests and mail.
//! They take longest. Tests run in the order of their names, so these begin before the others of the program.

mod answers;
mod clients;
mod hostile_http;
mod hostile_mail;
mod memory;
