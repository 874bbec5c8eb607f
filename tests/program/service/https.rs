//! HTTPS of the daemon.
//! Promise: it outlives the code below it.

use std::net::SocketAddr;

use reqwest::{Certificate, Client, Version};
use rustix::process::Signal;
use serde_json::Value;

use crate::support::certificates::Pair;
use crate::support::command::run;
use crate::support::program::Program;

/// A client that trusts only this certificate.
fn client(pair: &Pair, at: SocketAddr) -> Client {
    let trusted = Certificate::from_der(pair.certificate.der()).expect("a certificate");
    Client::builder().tls_certs_only([trusted]).resolve("localhost", at).build().expect("a client")
}

#[tokio::test(flavor = "multi_thread")]
async fn https_has_the_certificate_of_smtp_and_its_renewal() {
    let (dir, tls) = (tempfile::tempdir().expect("directory"), tempfile::tempdir().expect("directory"));
    let pair = Pair::fresh();
    let files = pair.write(tls.path());
    let text = |path: &std::path::Path| path.to_str().expect("UTF-8").to_owned();
    let (cert, key) = (text(&files.certificate), text(&files.key));
    let binary = Program::serve(dir.path(), &["--tls-cert", &cert, "--tls-key", &key, "--https-listen", "127.0.0.1:0"]);
    let shown: Value = binary.tempmail(&["status", "--json"]).json();
    let at: SocketAddr = shown["httpsListen"][0].as_str().and_then(|text| text.parse().ok()).expect("an address");
    let url = format!("https://localhost:{}/api/domains/active", at.port());

    let answer = client(&pair, at).get(&url).send().await.expect("an answer");
    assert_eq!((answer.status().as_u16(), answer.version()), (200, Version::HTTP_11));
    assert_eq!(answer.json::<Value>().await.expect("JSON"), serde_json::json!(["example.test"]));

    // The command line needs the certificate for a private authority.
    let server = format!("https://localhost:{}", at.port());
    let unknown = run(&["--server", &server, "domain", "ls", "--active"]);
    assert_eq!(unknown.code, Some(6), "{unknown:?}");
    assert!(unknown.stderr.contains("does not know") && unknown.stderr.contains("--ca-file FILE"), "{unknown:?}");
    let known = run(&["--server", &server, "--ca-file", &cert, "domain", "ls", "--active"]);
    assert_eq!((known.code, known.stdout.as_str()), (Some(0), "example.test\n"), "{known:?}");

    let next = Pair::fresh();
    next.write(tls.path());
    binary.signal(Signal::HUP);
    binary.logged("the certificate was read again and is in use");
    assert_eq!(client(&next, at).get(&url).send().await.expect("an answer").status(), 200);
    assert!(client(&pair, at).get(&url).send().await.is_err(), "the old certificate is served");
    binary.stop();
}
