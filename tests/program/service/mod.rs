//! `tempmail serve` as a process: starts, signals, kills, hostile peers, logs.

mod abuse;
mod answers;
mod authority;
mod dev;
mod hangup;
mod hostile_http;
mod hostile_mail;
mod https;
mod kill;
mod listeners;
mod logs;
mod memory;
mod refusals;
mod remote;
mod stopping;
mod tour;
mod transports;
mod unread_log;
