//! The files of a certificate and its key: reading them, and detecting changes.

use std::fs::{self, File};
use std::io::{self, Read};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use rustls::pki_types::pem::{self, PemObject};
use rustls::pki_types::{CertificateDer, PrivateKeyDer};

use super::error::CertificateError;

/// The most octets of a file that is read. A chain of many certificates has about 20 KB.
const FILE_OCTETS_MAX: u64 = 1024 * 1024;
/// The mode bit that lets every user of the machine read a file.
const WORLD_READABLE: u32 = 0o004;
/// Marks of a key that is encrypted with a passphrase, one for each of its two formats.
const ENCRYPTED: [&[u8]; 2] = [b"-----BEGIN ENCRYPTED PRIVATE KEY-----", b"Proc-Type: 4,ENCRYPTED"];

/// The paths of a certificate and its key in PEM.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CertificateFiles {
    /// The certificate chain, which begins with the server's certificate.
    pub certificate: PathBuf,
    /// The key, which may be in the file of the certificate.
    pub key: PathBuf,
}

/// The state of the two files, for detecting changes. A missing file has no state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Stamp([Option<FileStamp>; 2]);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct FileStamp {
    device: u64,
    inode: u64,
    octets: u64,
    modified_at: (i64, i64),
    changed_at: (i64, i64),
}

impl CertificateFiles {
    /// The current state of the two files.
    pub(super) fn stamp(&self) -> Stamp {
        Stamp([&self.certificate, &self.key].map(|path| {
            let file = fs::metadata(path).ok()?;
            Some(FileStamp {
                device: file.dev(),
                inode: file.ino(),
                octets: file.size(),
                modified_at: (file.mtime(), file.mtime_nsec()),
                changed_at: (file.ctime(), file.ctime_nsec()),
            })
        }))
    }

    /// Whether every user of the machine may read the key.
    pub fn is_key_world_readable(&self) -> bool {
        fs::metadata(&self.key).is_ok_and(|file| file.mode() & WORLD_READABLE != 0)
    }

    /// Reads the chain, which has at least one certificate.
    pub(super) fn chain(&self) -> Result<Vec<CertificateDer<'static>>, CertificateError> {
        let chain = certificates(&self.certificate)?;
        if chain.is_empty() {
            return Err(CertificateError::NoCertificate { path: self.certificate.clone() });
        }
        Ok(chain)
    }

    /// Reads the key.
    pub(super) fn key(&self) -> Result<PrivateKeyDer<'static>, CertificateError> {
        let path = || self.key.clone();
        let text = read(&self.key)?;
        let is_encrypted = ENCRYPTED.iter().any(|mark| memchr::memmem::find(&text, mark).is_some());
        match PrivateKeyDer::from_pem_slice(&text) {
            _ if is_encrypted => Err(CertificateError::EncryptedKey { path: path() }),
            Ok(key) => Ok(key),
            Err(pem::Error::NoItemsFound) => Err(CertificateError::NoKey { path: path() }),
            Err(error) => Err(CertificateError::Pem { path: path(), reason: error.to_string() }),
        }
    }
}

/// Every certificate in a file of PEM, which may have none.
pub(super) fn certificates(path: &Path) -> Result<Vec<CertificateDer<'static>>, CertificateError> {
    CertificateDer::pem_slice_iter(&read(path)?)
        .collect::<Result<_, _>>()
        .map_err(|error| CertificateError::Pem { path: path.to_owned(), reason: error.to_string() })
}

fn read(path: &Path) -> Result<Vec<u8>, CertificateError> {
    let mut text = Vec::new();
    let read = File::open(path).and_then(|file| file.take(FILE_OCTETS_MAX + 1).read_to_end(&mut text));
    match read {
        Ok(_) if text.len() as u64 > FILE_OCTETS_MAX => {
            Err(CertificateError::TooLarge { path: path.to_owned(), octets_max: FILE_OCTETS_MAX })
        }
        Ok(_) => Ok(text),
        Err(error) => Err(unreadable(path, error)),
    }
}

fn unreadable(path: &Path, error: io::Error) -> CertificateError {
    CertificateError::Unreadable { path: path.to_owned(), error }
}
