//! No request leaves for an address that is not public, whatever a name leads to.

use tempmail::webhook::{CallerSettings, Disposition, ErrorClass};

use super::{PATIENT, Setup, request_to};
use crate::support::webhook_sink::{Behaviour, WebhookSink};

const NAME: &str = "hooks.example";
/// The environment variable with the receiver's URL for a child process.
const RECEIVER: &str = "TEST_WEBHOOK_RECEIVER";

async fn sink() -> WebhookSink {
    let sink = WebhookSink::start().await;
    sink.script("/hook", Behaviour::with_header(200, "connection", "close"));
    sink
}

fn url_of(sink: &WebhookSink, host: &str) -> String {
    format!("http://{host}:{}/hook", sink.addr().port())
}

#[tokio::test]
async fn names_and_literals_of_private_addresses_are_not_dialled() {
    let (setup, sink) = (Setup::new(&[], &[], PATIENT).await, sink().await);
    setup.zone.set_addresses(NAME, &["127.0.0.1", "::1", "::ffff:127.0.0.1", "64:ff9b::7f00:1"]);
    setup.zone.set_cname("alias.example", NAME);
    for host in [
        NAME,
        "alias.example",
        "localhost",
        "a.localhost.",
        "127.0.0.1",
        "2130706433",
        "0",
        "[::ffff:127.0.0.1]",
        "①②⑦.⓪.⓪.①",
    ] {
        let outcome = setup.call(&url_of(&sink, host)).await;
        assert_eq!((outcome.status, outcome.class), (None, Some(ErrorClass::RefusedAddress)), "{host}");
        assert_eq!(outcome.disposition(), Disposition::Retry { after: None });
        assert!(outcome.detail.contains("not a public address"), "{}", outcome.detail);
    }
    assert_eq!(sink.connections(), 0);
}

#[tokio::test]
async fn a_name_that_leads_to_a_private_address_later_is_refused_then() {
    // Here 127.0.0.1 stands for a public address, and 127.0.0.2 for a private one. The receiver listens on both.
    let sink = WebhookSink::start_on_two().await;
    sink.script("/hook", Behaviour::with_header(200, "connection", "close"));
    let setup = Setup::new(&["127.0.0.1/32"], &[], PATIENT).await;
    let url = url_of(&sink, NAME);
    for round in 0..5 {
        setup.zone.set_addresses(NAME, &["127.0.0.1"]);
        assert_eq!(setup.call(&url).await.status, Some(200), "round {round}");
        setup.zone.set_addresses(NAME, &["127.0.0.2"]);
        assert_eq!(setup.call(&url).await.class, Some(ErrorClass::RefusedAddress), "round {round}");
        setup.zone.set_addresses(NAME, &["127.0.0.2", "127.0.0.1"]);
        assert_eq!(setup.call(&url).await.status, Some(200), "round {round}: the one that is public is dialled");
    }
    let addresses = sink.dialled();
    assert_eq!(addresses.len(), 10);
    assert!(addresses.iter().all(|address| address.ip().to_string() == "127.0.0.1"), "{addresses:?}");
}

#[tokio::test]
async fn our_own_listener_is_not_dialled_even_where_its_network_is_allowed() {
    let (own, other) = (sink().await, sink().await);
    let setup = Setup::new(&["127.0.0.0/8"], &[own.addr()], PATIENT).await;
    setup.zone.set_addresses(NAME, &["127.0.0.1"]);
    for host in [NAME, "127.0.0.1", "localhost", "[::ffff:127.0.0.1]"] {
        let outcome = setup.call(&url_of(&own, host)).await;
        assert_eq!((outcome.status, outcome.class), (None, Some(ErrorClass::RefusedAddress)), "{host}");
    }
    for host in [NAME, "127.0.0.1", "localhost"] {
        assert_eq!(setup.call(&url_of(&other, host)).await.status, Some(200), "{host}");
    }
    assert_eq!((own.connections(), other.connections()), (0, 3));
}

#[tokio::test]
async fn a_name_that_does_not_resolve_is_a_dns_error() {
    let (setup, sink) = (Setup::local().await, sink().await);
    setup.zone.set_empty("empty.example");
    setup.zone.servfail("broken.example");
    for host in ["missing.example", "empty.example", "broken.example"] {
        let outcome = setup.call(&url_of(&sink, host)).await;
        assert_eq!((outcome.status, outcome.class), (None, Some(ErrorClass::Dns)), "{host}: {}", outcome.detail);
    }
}

#[tokio::test]
async fn no_proxy_of_the_environment_is_used() {
    let (proxy, receiver) = (sink().await, sink().await);
    let program = std::env::current_exe().expect("this program");
    let mut child = std::process::Command::new(program);
    child.args(["--exact", "webhook::guard::a_call_in_a_process_of_its_own", "--ignored"]);
    child.env(RECEIVER, receiver.url("/hook")).stdout(std::process::Stdio::null());
    for variable in ["HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy"] {
        child.env(variable, proxy.url(""));
    }
    for variable in ["NO_PROXY", "no_proxy", "REQUEST_METHOD"] {
        child.env_remove(variable);
    }
    let status = tokio::task::spawn_blocking(move || child.status()).await.expect("no panic").expect("a child");
    assert!(status.success());
    assert_eq!((proxy.connections(), receiver.requests().len()), (0, 1));
}

/// Part of the test above, which needs a process with an environment of its own.
#[tokio::test]
#[ignore = "run by another test, with the address of a receiver in the environment"]
async fn a_call_in_a_process_of_its_own() {
    let Ok(url) = std::env::var(RECEIVER) else { return };
    assert_eq!(Setup::local().await.call(&url).await.status, Some(200));
}

#[tokio::test]
async fn names_that_lead_to_one_address_share_its_rate_limit() {
    let sink = sink().await;
    let other = WebhookSink::start().await;
    other.script("/hook", Behaviour::status(200));
    let setup = Setup::new(&["127.0.0.0/8"], &[], CallerSettings { per_address_per_minute: 4, ..PATIENT }).await;
    let call = async |sink: &WebhookSink, name: &str| {
        setup.zone.set_addresses(name, &["127.0.0.1"]);
        setup.caller.call(request_to(&url_of(sink, name))).await.map(|outcome| outcome.status)
    };
    // An attempt on a reused connection counts like any other.
    for name in ["a.example", "b.example"] {
        assert_eq!(call(&sink, name).await, Ok(Some(200)), "{name}");
        assert_eq!(call(&other, "kept.example").await, Ok(Some(200)));
    }
    sink.script("/hook", Behaviour::status(500));
    for name in ["c.example", "d.example"] {
        assert_eq!(call(&sink, name).await, Ok(Some(500)), "{name}");
        assert_eq!(call(&other, "kept.example").await, Ok(Some(200)));
    }
    let wait = call(&sink, "e.example").await.expect_err("the fifth").wait;
    assert!(wait <= std::time::Duration::from_millis(15_100), "{wait:?}");
    assert!(call(&sink, "d.example").await.is_err(), "its connection is idle");
    assert!(call(&other, "kept.example").await.is_err(), "its connection is idle");
    assert_eq!((sink.requests().len(), other.requests().len()), (4, 4));
}
