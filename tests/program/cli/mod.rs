//! The binary against a small service that answers as the interface requires.

mod cluster;
mod completions;
mod config;
mod context;
mod contract;
mod db;
mod delete;
mod doctor;
mod domain;
mod exits;
mod expect;
mod export;
mod first_use;
mod generated;
mod import;
mod inbox;
mod interrupt;
mod jq;
mod listen;
mod lists;
mod live;
mod mcp;
mod new;
mod one_mail;
mod progress;
mod rate_limit;
mod read;
mod screens;
mod send_test;
mod sendmail;
mod service;
mod status;
mod wait;
mod watch;
mod webhook;

use crate::support::command::{Outcome, lines, run, tempmail};
