//! Mails as nobody would wish them.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use crate::support::smtp_peer::SmtpPeer;
use crate::support::test_server::TestServer;

/// Their recipient.
pub(super) const TO: &str = "hello@example.test";

/// The sender and the subject of each, the oldest first.
const MAILS: [(&str, &str); 8] = [
    ("ann@mail.example", "Your code is 481516"),
    ("漢字@例え.example", "漢字かな交じり文の件名は、ここで表の幅を超えるまでずっと続きます"),
    ("emoji@mail.example", "👨‍👩‍👧‍👦 the family 🎉 and a 👩🏽‍🚒 with e\u{301}\u{301} marks"),
    ("bidi@mail.example", "invoice \u{202e}fdp.exe\u{202c} and \u{2066}more\u{2069} עברית"),
    ("escape@mail.example", "\u{1b}[2J\u{1b}]0;title\u{7}red\u{1b}[31m\u{9b}0m"),
    ("lines@mail.example", "one\ttwo\u{85}three\u{2028}four\u{200b}"),
    ("a.sender.with.a.very.long.name@mail.department.of.something.example", "short"),
    ("empty@mail.example", ""),
];
/// A subject of 10,000 characters.
const LONG: (&str, usize) = ("0123456789 abcdefgh ", 500);

pub(super) async fn deliver(server: &TestServer) {
    let mut peer = SmtpPeer::greeted(server.smtp()).await;
    for (from, subject) in MAILS {
        let characters: Vec<char> = subject.chars().collect();
        // An encoded word has at most 75 characters (RFC 2047).
        let words = characters.chunks(8).map(|word| STANDARD.encode(word.iter().collect::<String>()));
        let encoded: Vec<String> = words.map(|word| format!("=?utf-8?B?{word}?=")).collect();
        deliver_one(&mut peer, from, &encoded.join("\r\n ")).await;
    }
    let (piece, times) = LONG;
    deliver_one(&mut peer, "long@mail.example", &vec![piece.trim_end(); times].join("\r\n ")).await;
    deliver_one(&mut peer, "", "no sender").await;
}

async fn deliver_one(peer: &mut SmtpPeer, from: &str, subject: &str) {
    let from = if from.is_empty() { String::new() } else { format!("From: <{from}>\r\n") };
    let text = "漢字 and \u{1b}[2J";
    let head = "Content-Type: text/plain; charset=utf-8\r\n\r\n";
    peer.deliver(TO, &format!("{from}Subject: {subject}\r\n{head}{text}")).await;
}
