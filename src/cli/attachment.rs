//! `tempmail read --attachment` and `--save-all`: the octets of attachments, to standard output or into files.

use std::fs::OpenOptions;
use std::io::{self, ErrorKind, Write};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use super::one_mail;
use super::output::visible;
use super::{Context, STANDARD};
use crate::client::{Client, Mail, text};
use crate::error::{Error, Exit};
use crate::mime::safe_filename;
use crate::model::EmailId;
use crate::unfinished::Unfinished;

/// What to do where a file is there already.
const OTHER_FILE: &str = "name another file, or replace it with --yes";
/// What to do where a directory has a file already.
const OTHER_DIRECTORY: &str = "name another directory; nothing was replaced";

/// Writes attachment `index` of a mail into `file`, into the directory `file` under its own name, or to standard output.
pub(super) async fn save(
    cx: &Context,
    client: &Client,
    id: EmailId,
    index: u64,
    file: Option<PathBuf>,
) -> Result<(), Error> {
    let octets = client.octets(&path(id, index)).await?;
    let Some(mut file) = file.filter(|file| file.as_os_str() != STANDARD) else {
        if is_for_a_file(&octets, cx.style.is_terminal) {
            return Err(
                Error::usage("the attachment is no text for a terminal").hint("give -O FILE, or pipe it somewhere")
            );
        }
        return cx.print(visible::octets(&octets, cx.style.is_terminal));
    };
    if file.is_dir() {
        let mail = client.email(id).await.map_err(one_mail::refused)?;
        let named = attachments(&mail)?.into_iter().find(|(known, _)| *known == index);
        file.push(name(named.map_or("", |(_, filename)| filename), index));
    }
    write(&file, &octets, cx.globals.yes).map_err(|error| failure(&file, &error, OTHER_FILE))?;
    cx.hint(&format!("wrote {} octets to {}", octets.len(), file.display()));
    Ok(())
}

/// Writes every attachment into `dir`, which is made where it is missing, and prints where each went.
///
/// Where one cannot have its name, none is written.
pub(super) async fn save_all(cx: &Context, client: &Client, id: EmailId, dir: &Path) -> Result<(), Error> {
    let failed = |file: &Path, error: &io::Error| failure(file, error, OTHER_DIRECTORY);
    let mail = client.email(id).await.map_err(one_mail::refused)?;
    let attachments = attachments(&mail)?;
    if attachments.is_empty() {
        cx.hint("the mail has no attachment");
        return Ok(());
    }
    let names = attachments.iter().map(|(index, filename)| name(filename, *index));
    let files: Vec<PathBuf> = names.map(|name| dir.join(name)).collect();
    for (number, file) in files.iter().enumerate() {
        if files[..number].contains(file) {
            return Err(Error::usage(format!("two attachments would be {}", file.display()))
                .hint("--attachment N -O FILE writes one of them"));
        }
        if file.symlink_metadata().is_ok() {
            return Err(failed(file, &ErrorKind::AlreadyExists.into()));
        }
    }
    std::fs::create_dir_all(dir).map_err(|error| failed(dir, &error))?;
    for ((index, _), file) in attachments.into_iter().zip(files) {
        let octets = client.octets(&path(id, index)).await?;
        write(&file, &octets, false).map_err(|error| failed(&file, &error))?;
        let line = [file.as_os_str().as_bytes(), b"\n"].concat();
        cx.print(visible::octets(&line, cx.style.is_terminal))?;
    }
    Ok(())
}

/// The numbers of the attachments with their names.
fn attachments(mail: &Mail) -> Result<Vec<(u64, &str)>, Error> {
    let all = mail.list("attachments").iter().map(|of| Some((of["index"].as_u64()?, text(of, "filename"))));
    let all: Option<Vec<_>> = all.collect();
    all.ok_or_else(|| Error::new(Exit::Unavailable, "the service does not say the number of an attachment"))
}

fn path(id: EmailId, index: u64) -> String {
    format!("/api/mail/messages/{id}/attachments/{index}")
}

fn is_for_a_file(octets: &[u8], is_terminal: bool) -> bool {
    is_terminal && (octets.contains(&0) || str::from_utf8(octets).is_err())
}

/// A name that leads nowhere else and hides nothing, whatever the server says.
fn name(filename: &str, index: u64) -> String {
    let safe = safe_filename(filename);
    if safe.is_empty() { format!("attachment-{index}") } else { visible::masked(&safe).into_owned() }
}

/// A file that is there stays as it is until the new one is complete. Nothing is left of one that could not be written.
fn write(file: &Path, octets: &[u8], may_replace: bool) -> io::Result<()> {
    match file.metadata() {
        Ok(found) if may_replace && !found.is_file() => OpenOptions::new().write(true).open(file)?.write_all(octets),
        Ok(_) if !may_replace => Err(ErrorKind::AlreadyExists.into()),
        _ => {
            let mut begun = Unfinished::beside(file)?;
            begun.write(octets)?;
            begun.finish()
        }
    }
}

fn failure(file: &Path, error: &io::Error, otherwise: &str) -> Error {
    let file = file.display();
    if error.kind() == ErrorKind::AlreadyExists {
        return Error::usage(format!("{file} is there already")).hint(otherwise);
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
