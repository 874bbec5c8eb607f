//! `tempmail read --attachment` and `--save-all`: the octets of attachments, to standard output or into files.

use std::fs::OpenOptions;
use std::io::{self, ErrorKind, Write};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use super::Context;
use super::one_mail;
use super::output::visible;
use crate::client::Client;
use crate::error::{Error, Exit};
use crate::mime::safe_filename;
use crate::model::EmailId;

/// How many files of one name a directory takes.
const NUMBER_MAX: u32 = 1_000;
/// The longest name of a file, in octets, as file systems take it.
const NAME_OCTETS_MAX: usize = 255;
/// A longer ending of a name is no extension.
const EXTENSION_OCTETS_MAX: usize = 32;

/// Writes attachment `index` of a mail into `file`, into the directory `file` under its own name, or to standard output.
pub(super) async fn save(
    cx: &Context,
    client: &Client,
    id: EmailId,
    index: u64,
    file: Option<PathBuf>,
) -> Result<(), Error> {
    let octets = client.attachment(id, index).await?;
    let Some(mut file) = file else {
        if is_for_a_file(&octets, cx.style.is_terminal) {
            return Err(
                Error::usage("the attachment is no text for a terminal").hint("give -O FILE, or pipe it somewhere")
            );
        }
        return cx.print(visible::octets(&octets, cx.style.is_terminal));
    };
    if file.is_dir() {
        let detail = client.email(id).await.map_err(one_mail::refused)?;
        let named = detail.attachments.iter().find(|attachment| attachment.index == index);
        file.push(name(named.map_or("", |attachment| &attachment.filename), index));
    }
    write(&file, &octets, cx.globals.yes).map_err(|error| failure(&file, &error))?;
    cx.hint(&format!("wrote {} octets to {}", octets.len(), file.display()));
    Ok(())
}

/// Writes every attachment into `dir`, which is made where it is missing, and prints where each went.
pub(super) async fn save_all(cx: &Context, client: &Client, id: EmailId, dir: &Path) -> Result<(), Error> {
    let detail = client.email(id).await.map_err(one_mail::refused)?;
    if detail.attachments.is_empty() {
        cx.hint("the mail has no attachment");
        return Ok(());
    }
    std::fs::create_dir_all(dir).map_err(|error| failure(dir, &error))?;
    for attachment in &detail.attachments {
        let octets = client.attachment(id, attachment.index).await?;
        let file = write_new(dir, &name(&attachment.filename, attachment.index), &octets)?;
        let line = [file.as_os_str().as_bytes(), b"\n"].concat();
        cx.print(visible::octets(&line, cx.style.is_terminal))?;
    }
    Ok(())
}

/// Writes a file of this name, or with a number behind the name where it is taken.
fn write_new(dir: &Path, name: &str, octets: &[u8]) -> Result<PathBuf, Error> {
    let mut file = dir.join(name);
    for number in 2..=NUMBER_MAX {
        match write(&file, octets, false) {
            Err(error) if error.kind() == ErrorKind::AlreadyExists => file = dir.join(numbered(name, number)),
            Err(error) => return Err(failure(&file, &error)),
            Ok(()) => return Ok(file),
        }
    }
    Err(failure(&file, &ErrorKind::AlreadyExists.into()))
}

/// `name` with a number before its extension, its stem cut so that it is the name of a file.
fn numbered(name: &str, number: u32) -> String {
    let is_extension = |(stem, extension): &(&str, &str)| !stem.is_empty() && extension.len() <= EXTENSION_OCTETS_MAX;
    let (stem, end) = match name.rsplit_once('.').filter(is_extension) {
        Some((stem, extension)) => (stem, format!("-{number}.{extension}")),
        None => (name, format!("-{number}")),
    };
    let room = NAME_OCTETS_MAX.saturating_sub(end.len());
    format!("{}{end}", &stem[..stem.floor_char_boundary(room)])
}

fn is_for_a_file(octets: &[u8], is_terminal: bool) -> bool {
    is_terminal && (octets.contains(&0) || str::from_utf8(octets).is_err())
}

/// A name that leads nowhere else and hides nothing, whatever the server says.
fn name(filename: &str, index: u64) -> String {
    let safe = safe_filename(filename);
    if safe.is_empty() { format!("attachment-{index}") } else { visible::masked(&safe).into_owned() }
}

fn write(file: &Path, octets: &[u8], may_replace: bool) -> io::Result<()> {
    let mut options = OpenOptions::new();
    options.write(true);
    if may_replace {
        options.create(true).truncate(true);
    } else {
        options.create_new(true);
    }
    options.open(file)?.write_all(octets)
}

fn failure(file: &Path, error: &io::Error) -> Error {
    let file = file.display();
    if error.kind() == ErrorKind::AlreadyExists {
        return Error::usage(format!("{file} is there already")).hint("name another file, or replace it with --yes");
    }
    Error::new(Exit::Failure, format!("{file}: {error}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn octets_that_are_no_text_are_kept_from_a_terminal() {
        for (octets, expected) in [(&b"a\xc3\xbc\x1b"[..], false), (b"a\xff", true), (b"a\0", true)] {
            assert_eq!(is_for_a_file(octets, true), expected);
            assert!(!is_for_a_file(octets, false));
        }
    }

    #[test]
    fn a_number_goes_before_the_extension() {
        for (name, expected) in
            [("a.pdf", "a-2.pdf"), ("a.tar.gz", "a.tar-2.gz"), ("README", "README-2"), (".x", ".x-2")]
        {
            assert_eq!(numbered(name, 2), expected);
        }
    }

    #[test]
    fn a_numbered_name_is_never_too_long_for_a_file() {
        let (stem, extension) = ("é".repeat(125), "e".repeat(252));
        assert_eq!(numbered(&format!("{stem}a.pdf"), 1_000), format!("{}-1000.pdf", "é".repeat(123)));
        assert_eq!(numbered(&format!("a.{extension}"), 2), format!("a.{}-2", &extension[..251]));
    }

    #[test]
    fn a_name_hides_nothing() {
        assert_eq!(name("in\u{ad}voice\u{200b}.pdf", 0), "in_voice_.pdf");
        assert_eq!(name("\u{1f469}\u{200d}\u{1f692}.png", 0), "\u{1f469}\u{200d}\u{1f692}.png");
    }

    #[test]
    fn a_name_stays_in_its_directory() {
        for (filename, expected) in
            [("../a", "_a"), ("/etc/passwd", "_etc_passwd"), ("..", "attachment-3"), ("", "attachment-3")]
        {
            assert_eq!(name(filename, 3), expected);
        }
    }
}
