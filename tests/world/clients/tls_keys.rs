//! Keys as OpenSSL writes them.
//! Promise: it outlives the code below it.

use std::fs;
use std::path::Path;
use std::process::Command;

use tempmail::tls::{Certificate, CertificateFiles};

use crate::support::programs;

#[test]
#[ignore = "needs OpenSSL"]
fn keys_of_each_kind_that_openssl_writes_are_taken() {
    let openssl = programs::find("openssl");
    let dir = tempfile::tempdir().expect("directory");
    // PKCS #1, SEC 1 and PKCS #8, and both in one file.
    for (make, form) in [
        ("genrsa -traditional -out KEY 2048", "BEGIN RSA PRIVATE KEY"),
        ("genrsa -out KEY 3072", "BEGIN PRIVATE KEY"),
        ("ecparam -name prime256v1 -genkey -out KEY", "BEGIN EC PRIVATE KEY"),
        ("ecparam -name secp521r1 -genkey -noout -out KEY", "BEGIN EC PRIVATE KEY"),
        ("genpkey -algorithm ed25519 -out KEY", "BEGIN PRIVATE KEY"),
    ] {
        let files = CertificateFiles { certificate: dir.path().join("c.pem"), key: dir.path().join("k.pem") };
        run(&openssl, make, &files);
        run(&openssl, "req -x509 -key KEY -out CERT -days 30 -subj /CN=mail.example.test", &files);
        let key = fs::read_to_string(&files.key).expect("read");
        assert!(key.contains(form), "{make}: {key}");
        assert_eq!(Certificate::read(&files).expect(make).names, ["CN=mail.example.test"]);
        let both = fs::read_to_string(&files.certificate).expect("read") + &key;
        fs::write(&files.certificate, both).expect("write");
        Certificate::read(&CertificateFiles { key: files.certificate.clone(), ..files }).expect("both in one file");
    }
}

fn run(openssl: &Path, command: &str, files: &CertificateFiles) {
    let (certificate, key) = (files.certificate.to_string_lossy(), files.key.to_string_lossy());
    let args = command.split(' ').map(|word| match word {
        "KEY" => key.as_ref(),
        "CERT" => certificate.as_ref(),
        word => word,
    });
    programs::run(Command::new(openssl).args(args), "");
}
