//! `tempmail new`
//! Promise: it outlives the code below it.

use crate::support::command::Outcome;
use crate::support::http;
use crate::support::program::Program;

/// The address that was printed, and nothing else.
fn address(printed: &Outcome) -> String {
    assert_eq!(printed.code, Some(0), "{printed:?}");
    let address = printed.stdout.trim_end().to_owned();
    assert_eq!(printed.stdout, format!("{address}\n"));
    address
}

fn is_random(text: &str) -> bool {
    text.len() == 17 && text.bytes().all(|octet| b"bcdfghjkmnpqrstvwxz23456789".contains(&octet))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_new_address_receives_mail() {
    let daemon = Program::fresh(&[]);
    let new = address(&daemon.tempmail(&["new"]));
    let (random, domain) = new.split_once('@').expect("an address");
    assert!(is_random(random) && domain == "example.test", "{new}");
    assert_ne!(address(&daemon.tempmail(&["new"])), new);
    daemon.tempmail(&["send-test", &new]).ok();
    assert_eq!(http::total(daemon.http, &new).await, 1);

    let named = address(&daemon.tempmail(&["new", "--prefix", "sign-up", "--domain", "EXAMPLE.test"]));
    let random = named.strip_prefix("sign-up-").and_then(|rest| rest.strip_suffix("@example.test"));
    assert!(random.is_some_and(is_random), "{named}");
    for wrong in [&["new", "--prefix", "a+b"][..], &["new", "--domain", "a b"]] {
        assert_eq!(daemon.tempmail(wrong).code, Some(2), "{wrong:?}");
    }
    let elsewhere = daemon.tempmail(&["new", "--domain", "elsewhere.test"]);
    assert_eq!((elsewhere.code, elsewhere.stdout.as_str()), (Some(3), ""));
}

#[test]
fn a_domain_of_the_administrator_comes_before_a_wildcard() {
    let dir = tempfile::tempdir().expect("directory");
    let daemon = Program::serve(dir.path(), &["--domain", "*"]);
    let any = daemon.tempmail(&["new"]);
    assert!(address(&any).ends_with("@example.test"), "{any:?}");
    assert!(any.stderr.contains("takes mail for *; this address is at example.test"), "{any:?}");
    let chosen = daemon.tempmail(&["new", "--domain", "chosen.example"]);
    assert!(address(&chosen).ends_with("@chosen.example") && chosen.stderr.is_empty(), "{chosen:?}");
    daemon.stop();

    let daemon = Program::serve(dir.path(), &["--domain", "*.wild.test", "--domain", "own.test"]);
    for _ in 0..10 {
        assert!(address(&daemon.tempmail(&["new"])).ends_with("@own.test"));
    }
    daemon.stop();
    let daemon = Program::serve(dir.path(), &["--domain", "*.wild.test"]);
    assert!(address(&daemon.tempmail(&["new"])).ends_with("@mail.wild.test"));
}

#[test]
fn without_a_domain_there_is_no_address_and_advice() {
    let daemon = Program::fresh(&["--mx-host", "mx.example.test"]);
    let none = daemon.tempmail(&["new"]);
    assert_eq!((none.code, none.stdout.as_str()), (Some(3), ""));
    assert!(none.stderr.contains("no domain is active; register one"), "{none:?}");
}
