//! Files in the form mboxrd: a line `From `, the message, an empty line. A line of the message that begins with `From `, after any
//! number of `>`, gets one more `>`.

use std::io::{self, BufRead, Read};

use super::entry::Entry;
use crate::model::Timestamp;

/// The entry as a piece of the file.
pub(in crate::cli) fn written(entry: &Entry<'_>, received_at: Timestamp) -> Vec<u8> {
    let sender: String = entry.sender.chars().filter(|c| !c.is_whitespace()).collect();
    let sender = if sender.is_empty() { "MAILER-DAEMON" } else { &sender };
    let mut piece = format!("From {sender} {}\n", received_at.to_asctime()).into_bytes();
    for line in entry.to_archive().split_inclusive(|&octet| octet == b'\n') {
        if is_quotable(line) {
            piece.push(b'>');
        }
        piece.extend_from_slice(line);
    }
    piece.push(b'\n');
    piece
}

fn is_quotable(line: &[u8]) -> bool {
    let quotes = line.iter().take_while(|&&octet| octet == b'>').count();
    line[quotes..].starts_with(b"From ")
}

/// Reads a file message by message.
pub(in crate::cli) struct Reader<R> {
    input: R,
    octets_max: u64,
    line: Vec<u8>,
    is_begun: bool,
    /// How much of the file has been read, in octets.
    pub(in crate::cli) position: u64,
}

impl<R: BufRead> Reader<R> {
    /// A reader whose messages have at most `octets_max`.
    pub(in crate::cli) const fn new(input: R, octets_max: u64) -> Self {
        Self { input, octets_max, line: Vec::new(), is_begun: false, position: 0 }
    }

    /// The next message without its `From ` line and without quotes; `None` at the end of the file.
    pub(in crate::cli) fn next(&mut self) -> io::Result<Option<Vec<u8>>> {
        if !self.is_begun {
            self.is_begun = true;
            self.read_line()?;
            if !self.line.is_empty() && !self.line.starts_with(b"From ") {
                return Err(invalid("it does not begin with a line From, so it is no mbox file"));
            }
        }
        if self.line.is_empty() {
            return Ok(None);
        }
        let mut message = Vec::new();
        let mut is_after_empty = false;
        loop {
            self.read_line()?;
            if self.line.is_empty() || is_after_empty && self.line.starts_with(b"From ") {
                break;
            }
            is_after_empty = matches!(&self.line[..], b"\n" | b"\r\n");
            let is_quoted = self.line.starts_with(b">") && is_quotable(&self.line);
            message.extend_from_slice(&self.line[usize::from(is_quoted)..]);
            if message.len() as u64 > self.octets_max {
                return Err(invalid("a message in it is too long"));
            }
        }
        if is_after_empty {
            let end = if message.ends_with(b"\r\n") { 2 } else { 1 };
            message.truncate(message.len() - end);
        }
        Ok(Some(message))
    }

    fn read_line(&mut self) -> io::Result<()> {
        self.line.clear();
        let read = (&mut self.input).take(self.octets_max + 2).read_until(b'\n', &mut self.line)?;
        self.position += read as u64;
        Ok(())
    }
}

fn invalid(reason: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, reason)
}

#[cfg(test)]
mod tests {
    use super::*;

    const AT: Timestamp = Timestamp::from_millis(1_700_000_000_000);

    fn all(file: &[u8], octets_max: u64) -> io::Result<Vec<Vec<u8>>> {
        let mut reader = Reader::new(file, octets_max);
        let mut messages = Vec::new();
        while let Some(message) = reader.next()? {
            messages.push(message);
        }
        assert_eq!(reader.position, file.len() as u64);
        Ok(messages)
    }

    #[test]
    fn messages_are_told_apart_whatever_is_in_them() {
        let messages: [&[u8]; 4] = [
            b"A: b\r\n\r\nFrom here\r\n>From there\r\n\r\nFrom afar\r\n\r\n",
            b"A: b\r\n\r\n\r\n\r\n",
            b"A: b\r\n\r\nbare \n\nFrom a line\r\n",
            b"\r\n",
        ];
        let entry = |message: &'static [u8]| Entry {
            sender: "m e@x.test".to_owned(),
            recipient: "ann@x.test".to_owned(),
            message: message.into(),
        };
        let file = messages.map(|message| written(&entry(message), AT)).concat();
        assert!(file.starts_with(b"From me@x.test Tue Nov 14 22:13:20 2023\nReturn-Path: <m e@x.test>\n"));
        let read = all(&file, 1_000).expect("messages");
        assert_eq!(read.len(), messages.len());
        for (text, message) in read.iter().zip(messages) {
            assert_eq!(Entry::of_archive(text), entry(message));
        }
    }

    #[test]
    fn other_files_are_refused_and_an_empty_one_has_no_messages() {
        assert_eq!(all(b"", 10).expect("empty"), Vec::<Vec<u8>>::new());
        assert!(all(b"Subject: s\n\ntext\n", 100).is_err());
        assert!(all(b"From a\n0123456789\n", 5).is_err());
        assert_eq!(all(b"From a\nA: b\n\nc\nFrom here\n", 100).expect("one"), [b"A: b\n\nc\nFrom here\n"]);
    }
}
