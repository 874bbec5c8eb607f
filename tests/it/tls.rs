//! Certificates from files: which are accepted, how others are refused, and what happens when the files change.
//! Promise: it outlives the code below it.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::sync::Arc;
use std::time::Duration;

use rcgen::KeyPair;
use tempfile::TempDir;
use tempmail::clock::SystemClock;
use tempmail::model::Timestamp;
use tempmail::tls::{Certificate, CertificateError, CertificateFiles, CertificateSource, Keeper, watch};
use tokio_util::sync::CancellationToken;

use crate::support::certificates::{Files, Pair};
use crate::support::until::until;

/// 2026-01-01.
const NOW: Timestamp = Timestamp::from_millis(1_767_225_600_000);

impl From<Files> for CertificateFiles {
    fn from(Files { certificate, key }: Files) -> Self {
        Self { certificate, key }
    }
}

fn directory() -> TempDir {
    tempfile::tempdir().expect("directory")
}

fn keeper(files: &CertificateFiles) -> Keeper {
    Keeper::open(CertificateSource::Files(files.clone()), NOW).expect("a keeper")
}

#[test]
fn keys_of_each_kind_are_taken() {
    let dir = directory();
    for algorithm in [&rcgen::PKCS_ECDSA_P256_SHA256, &rcgen::PKCS_ECDSA_P384_SHA384, &rcgen::PKCS_ED25519] {
        let files =
            CertificateFiles::from(Pair::of(KeyPair::generate_for(algorithm).expect("a key")).write(dir.path()));
        assert_eq!(Certificate::read(&files).expect("a certificate").names, ["localhost"]);
    }
}

#[test]
fn what_cannot_be_used_is_named_with_what_to_do() {
    let dir = directory();
    let files = CertificateFiles::from(Pair::fresh().write(dir.path()));
    let put = |name: &str, text: &[u8]| {
        fs::write(dir.path().join(name), text).expect("write");
        dir.path().join(name)
    };
    let good = fs::read(&files.certificate).expect("read");
    let other = Pair::fresh();
    let missing = dir.path().join("missing.pem");
    let certificate = |path| CertificateFiles { certificate: path, ..files.clone() };
    let key = |path| CertificateFiles { key: path, ..files.clone() };
    let encrypted = b"-----BEGIN ENCRYPTED PRIVATE KEY-----\nAAAA\n-----END ENCRYPTED PRIVATE KEY-----\n";
    let legacy = b"-----BEGIN RSA PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\n\nAAAA\n-----END RSA PRIVATE KEY-----\n";
    let junk = b"-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n";
    let junk_key = b"-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n";
    for (files, words) in [
        (certificate(missing.clone()), "missing.pem: No such file or directory"),
        (key(missing), "see that the file is there"),
        (certificate(put("empty", b"")), "empty holds no certificate"),
        (certificate(files.key.clone()), "key.pem holds no certificate"),
        (certificate(put("cut", &good[..good.len() - 40])), "cut: "),
        (certificate(put("junk", junk)), "the first certificate can't be used"),
        (certificate(put("large", &vec![b'x'; 1024 * 1024 + 1])), "large has more than 1048576 octets"),
        (key(files.certificate.clone()), "cert.pem holds no private key"),
        (key(put("encrypted", encrypted)), "encrypted: the key is encrypted; write it without a passphrase"),
        (key(put("legacy", legacy)), "legacy: the key is encrypted"),
        (key(put("junk_key", junk_key)), "the key must be RSA"),
        (key(put("other", other.key.serialize_pem().as_bytes())), "does not belong to the first certificate in"),
    ] {
        let error = Certificate::read(&files).expect_err(words).to_string();
        assert!(error.contains(words), "{words}: {error}");
    }
}

#[test]
fn a_broken_new_file_is_reported_and_the_old_one_stays_in_use() {
    let dir = directory();
    let files = CertificateFiles::from(Pair::fresh().write(dir.path()));
    let keeper = keeper(&files);
    let before = keeper.certificate();
    assert_eq!(keeper.fault(), None);
    fs::write(&files.certificate, "nothing").expect("write");
    keeper.reload(NOW);
    let fault = keeper.fault().expect("a fault");
    assert!(fault.reason.contains("holds no certificate") && fault.found_at == NOW, "{fault:?}");
    assert!(Arc::ptr_eq(&keeper.certificate(), &before), "another certificate is in use");
    Pair::until(KeyPair::generate().expect("a key"), 2030).write(dir.path());
    keeper.reload(NOW);
    assert_eq!((keeper.fault(), keeper.certificate().not_after.to_interface()), (None, "2030-01-01 00:00:00".into()));
}

#[test]
fn an_expired_certificate_is_served_only_in_place_of_none_or_another_expired_one() {
    let dir = directory();
    let expired = |year| Pair::until(KeyPair::generate().expect("a key"), year);
    let files = CertificateFiles::from(expired(2020).write(dir.path()));
    let keeper = keeper(&files);
    assert!(keeper.certificate().is_expired(NOW));
    expired(2021).write(dir.path());
    keeper.reload(NOW);
    assert_eq!(keeper.certificate().not_after.to_interface(), "2021-01-01 00:00:00");
    expired(2030).write(dir.path());
    keeper.reload(NOW);
    expired(2022).write(dir.path());
    keeper.reload(NOW);
    assert_eq!(keeper.certificate().not_after.to_interface(), "2030-01-01 00:00:00");
    let fault = keeper.fault().expect("a fault").reason.clone();
    assert!(fault.contains("expired on 2022-01-01T00:00:00Z; renew it"), "{fault}");
    let last = Timestamp::from_text("2030-01-01 00:00:00").expect("a time").plus(Duration::from_millis(999));
    assert!(
        !keeper.certificate().is_expired(last) && keeper.certificate().is_expired(last.plus(Duration::from_millis(1)))
    );
}

#[tokio::test]
async fn a_change_of_either_file_is_noticed() {
    let dir = directory();
    let files = CertificateFiles::from(Pair::fresh().write(dir.path()));
    let keeper = Arc::new(keeper(&files));
    let shutdown = CancellationToken::new();
    let watching = tokio::spawn(watch(Arc::clone(&keeper), Arc::new(SystemClock), shutdown.clone()));
    let next = Pair::until(KeyPair::generate().expect("a key"), 2090);
    // Like certbot: write a new file beside the old one, then rename it.
    let beside = dir.path().join("beside");
    fs::create_dir(&beside).expect("directory");
    let written = next.write(&beside);
    fs::rename(written.certificate, &files.certificate).expect("rename");
    until("the fault of the pair that does not match", async || {
        keeper.fault().is_some_and(|fault| fault.reason.contains("does not belong to"))
    })
    .await;
    fs::rename(written.key, &files.key).expect("rename");
    let is_new = || keeper.certificate().not_after.to_interface() == "2090-01-01 00:00:00";
    until("the new certificate", async || is_new() && keeper.fault().is_none()).await;
    shutdown.cancel();
    watching.await.expect("its end");
}

#[test]
fn a_self_signed_certificate_is_for_the_hostname_and_stays() {
    let keeper =
        Keeper::open(CertificateSource::SelfSigned("mx.example.test".parse().expect("a name")), NOW).expect("a keeper");
    let made = keeper.certificate();
    assert_eq!(made.names, ["mx.example.test", "localhost"]);
    assert!(made.is_self_signed && !made.is_expired(NOW));
    keeper.reload(NOW);
    assert!(Arc::ptr_eq(&made, &keeper.certificate()));
    assert!(matches!(
        Certificate::read(&CertificateFiles { certificate: "/".into(), key: "/".into() }),
        Err(CertificateError::Unreadable { .. })
    ));
}

#[test]
fn a_key_that_everyone_may_read_is_reported() {
    let dir = directory();
    let files = CertificateFiles::from(Pair::fresh().write(dir.path()));
    for (mode, is_readable) in [(0o600, false), (0o640, false), (0o644, true), (0o604, true)] {
        fs::set_permissions(&files.key, fs::Permissions::from_mode(mode)).expect("chmod");
        assert_eq!(files.is_key_world_readable(), is_readable, "{mode:o}");
    }
}
