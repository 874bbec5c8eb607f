//! `tempmail serve` as a process: starts, signals, kills, logs.

mod authority;
mod dev;
mod hangup;
mod https;
mod kill;
mod listeners;
mod logs;
mod refusals;
mod remote;
mod stopping;
mod tour;
mod transports;
mod unread_log;
