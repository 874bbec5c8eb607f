//! The bar of long work, on a terminal and in a pipe.
//! Promise: it outlives the code below it.

use std::io::{self, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::process::Command;
use std::thread::{self, sleep};
use std::time::Duration;

use super::deliver;
use crate::support::command::outcome;
use crate::support::program::{Program, terminal_command};
use crate::support::terminal::{Screen, on_terminal};

const TO: &str = "hello@example.test";
/// How much comes through a slow line at once, and how long the next octets take.
const PIECE_OCTETS: usize = 4_096;
const PIECE_EVERY: Duration = Duration::from_millis(20);
/// Together enough for much more than the half second after which a bar is shown.
const MAILS: usize = 3;
const LINES: usize = 1_000;

/// A slow line to a server.
fn slowed(server: SocketAddr) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").expect("bind");
    let address = listener.local_addr().expect("address");
    thread::spawn(move || {
        for client in listener.incoming().map_while(Result::ok) {
            let server = TcpStream::connect(server).expect("connect");
            let (mut requests, mut to_server) =
                (client.try_clone().expect("a copy"), server.try_clone().expect("a copy"));
            thread::spawn(move || {
                // Either end may close when it likes.
                let _ = io::copy(&mut requests, &mut to_server);
                let _ = to_server.shutdown(Shutdown::Write);
            });
            thread::spawn(move || carry_slowly(server, client));
        }
    });
    address
}

fn carry_slowly(mut server: TcpStream, mut client: TcpStream) {
    let mut piece = [0; PIECE_OCTETS];
    while let Ok(octets @ 1..) = server.read(&mut piece) {
        sleep(PIECE_EVERY);
        if client.write_all(&piece[..octets]).is_err() {
            return;
        }
    }
    let _ = client.shutdown(Shutdown::Write);
}

/// The states of the line that were shown one after the other, without escape sequences.
fn states(screen: &Screen) -> Vec<String> {
    let without_escapes = |state: &str| {
        let mut pieces = state.split("\u{1b}[");
        let mut text = pieces.next().unwrap_or_default().to_owned();
        for piece in pieces {
            text.push_str(piece.split_once(|c: char| c.is_ascii_alphabetic()).map_or("", |(_, rest)| rest));
        }
        text
    };
    screen.text.split(['\r', '\n']).map(without_escapes).collect()
}

/// The state with `#` for a bar and `0` for each number.
fn shape(state: &str) -> String {
    let mut shape = String::new();
    for c in state.chars() {
        let shown = match c {
            '\u{2588}' | '\u{2591}' => '#',
            '0'..='9' => '0',
            c => c,
        };
        if !(matches!(shown, '#' | '0') && shape.ends_with(shown)) {
            shape.push(shown);
        }
    }
    shape
}

/// A bar was shown, it fits the terminal, and nothing of it is left.
fn check(screen: &Screen, columns: usize, bar: &str) {
    assert_eq!(screen.code, Some(0), "{}", screen.text);
    let states = states(screen);
    assert!(states.iter().any(|state| shape(state) == bar), "{states:?}");
    for state in &states {
        assert!(state.chars().count() <= columns, "{state:?} on {columns} columns");
    }
    // The line is cleared before the result is printed, and no bar comes after that.
    let (_, last) = screen.text.rsplit_once("\u{1b}[2K").expect("a line that was cleared");
    assert!(!last.contains('\u{2588}') && !last.contains("ing "), "{last:?}");
}

#[test]
fn a_bar_shows_rate_and_time_left_and_goes() {
    let daemon = Program::fresh(&[]);
    let message = format!("Subject: long\r\n\r\n{}", format!("{}\r\n", "x".repeat(90)).repeat(LINES));
    for _ in 0..MAILS {
        deliver(&daemon, TO, &message);
    }
    let token = daemon.tempmail(&["token", "new", "--name", "backup"]).ok().stdout;
    let slow = slowed(daemon.http);
    let file = daemon.dir().join("copy.backup");
    let backup = || -> Command {
        let mut command = terminal_command(daemon.dir(), &["db", "backup", file.to_str().expect("UTF-8")]);
        command.env("TEMPMAIL_SERVER", format!("http://{slow}")).env("TEMPMAIL_TOKEN", token.trim());
        command.env_remove("TEMPMAIL_DATA_DIR");
        command
    };
    for columns in [60, 80] {
        let screen = on_terminal(backup(), columns, "");
        check(&screen, columns.into(), "backing up # 0 KB/0 KB 0 KB/s 0s");
    }
    let piped = outcome(&mut backup());
    assert_eq!((piped.code, piped.stderr.as_str()), (Some(0), ""));
}
