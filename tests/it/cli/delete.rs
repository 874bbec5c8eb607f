//! `tempmail delete`
//! Promise: it outlives the code below it.

use super::{Service, TO, UNKNOWN, alone, run};
use crate::support::command::Outcome;
use crate::support::smtp_peer::SmtpPeer;

const OTHER: &str = "other@example.test";

/// A service with two mails to [`TO`] and one to [`OTHER`]; the ids of the two.
async fn service() -> (Service, Vec<String>) {
    let service = Service::with_mails(&["a", "b"]).await;
    service.send(OTHER, "x").await;
    let ids = service.ids(TO).await;
    (service, ids)
}

async fn left(service: &Service) -> usize {
    service.ids(TO).await.len() + service.ids(OTHER).await.len()
}

async fn with_input(service: &Service, args: &[&str], input: &str) -> Outcome {
    run(service.line(args).fed(input)).await
}

#[tokio::test(flavor = "multi_thread")]
async fn without_a_terminal_yes_is_demanded_and_named() {
    let (service, ids) = service().await;
    for args in [&["delete", TO][..], &["delete", "--id", &ids[0]], &["delete", "-"]] {
        let outcome = with_input(&service, args, "y\n").await;
        assert_eq!((outcome.code, outcome.stdout.as_str()), (Some(2), ""), "{args:?}");
        assert!(outcome.stderr.contains("--yes"), "{}", outcome.stderr);
    }
    assert!(service.noted().requests.is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn an_inbox_goes_and_is_counted() {
    let (service, _) = service().await;
    assert_eq!(service.run(&["delete", TO, "--yes"]).await.stdout, format!("{TO}\t2\n"));
    assert_eq!(left(&service).await, 1);
    let again = service.run(&["delete", TO, "--yes", "--json"]).await;
    assert_eq!((again.code, again.stdout.as_str()), (Some(0), "{\"deleted\":0}\n"));
}

#[tokio::test(flavor = "multi_thread")]
async fn ids_go_one_by_one_and_an_unknown_one_is_exit_code_3() {
    let (service, ids) = service().await;
    let outcome = service.run(&["delete", "--yes", "--id", &ids[0], UNKNOWN, &ids[1]]).await;
    assert_eq!(outcome.code, Some(3));
    assert_eq!(outcome.stdout, format!("{}\t1\n{UNKNOWN}\t0\n{}\t1\n", ids[0], ids[1]));
    assert!(outcome.stderr.contains(UNKNOWN), "{}", outcome.stderr);
    assert_eq!(left(&service).await, 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn many_ids_go_a_hundred_at_a_time_and_each_unknown_one_is_said() {
    let service = Service::with("max-messages-per-mailbox = 1000").await;
    let mut peer = SmtpPeer::greeted(service.server.smtp()).await;
    for _ in 0..240 {
        peer.deliver(TO, "Subject: x\r\n\r\n").await;
    }
    peer.deliver(OTHER, "Subject: x\r\n\r\n").await;
    let ids = service.ids(TO).await;
    // In the first batch one is named twice, in the second one is unknown; an address stands between.
    let named =
        ids[..1].iter().chain(&ids[..150]).cloned().chain([UNKNOWN.to_owned()]).chain(ids[150..].iter().cloned());
    let lines: Vec<String> = named.collect();
    let input = format!("{}\n{OTHER}\n{}\n", lines[..120].join("\n"), lines[120..].join("\n"));
    let outcome = with_input(&service, &["delete", "-", "--yes"], &input).await;
    assert_eq!((outcome.code, left(&service).await), (Some(3), 0), "{}", outcome.stderr);
    let mut rows: Vec<String> = lines[1..].iter().map(|id| format!("{id}\t1")).collect();
    rows[150] = format!("{UNKNOWN}\t0");
    rows.insert(119, format!("{OTHER}\t1"));
    assert_eq!(outcome.stdout.lines().collect::<Vec<_>>(), rows);
    assert!(outcome.stderr.contains(UNKNOWN) && !outcome.stderr.contains("more"), "{}", outcome.stderr);
    let requests = service.noted().requests.iter().filter(|request| request.starts_with("DELETE ")).count();
    assert_eq!(requests, 2 + 1 + 2, "a request deletes up to 100");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_dry_run_needs_no_yes_and_deletes_nothing() {
    let (service, ids) = service().await;
    let outcome = service.run(&["delete", TO, "--dry-run"]).await;
    assert_eq!((outcome.code, outcome.stdout), (Some(0), format!("{TO}\t2\n")));
    assert_eq!(service.run(&["delete", "--dry-run", "--id", &ids[0], "--json"]).await.stdout, "{\"wouldDelete\":1}\n");
    assert_eq!(service.run(&["delete", "--dry-run", "--id", UNKNOWN]).await.code, Some(3));
    assert_eq!(left(&service).await, 3);
    assert!(service.noted().requests.iter().all(|request| request.starts_with("GET ")));
}

#[tokio::test(flavor = "multi_thread")]
async fn standard_input_names_what_goes() {
    let (service, _) = service().await;
    let listed = service.run(&["inbox", TO]).await.stdout;
    let outcome = with_input(&service, &["delete", "-", "--yes"], &format!("{listed}{OTHER}\n")).await;
    assert_eq!((outcome.code, left(&service).await), (Some(0), 0), "{}", outcome.stderr);
}

#[tokio::test(flavor = "multi_thread")]
async fn one_bad_line_stops_everything_before_it_begins() {
    let (service, ids) = service().await;
    let outcome = with_input(&service, &["delete", "-", "--yes"], &format!("{}\nnonsense\n", ids[0])).await;
    assert_eq!(outcome.code, Some(2));
    assert!(outcome.stderr.contains("line 2"), "{}", outcome.stderr);
    assert_eq!(left(&service).await, 3);
}

#[tokio::test(flavor = "multi_thread")]
async fn something_must_be_named_and_only_once() {
    let (service, ids) = service().await;
    for args in
        [&["delete"][..], &["delete", TO, "--id", &ids[0]], &["delete", "nobody", "--yes"], &["delete", "--id", "x"]]
    {
        assert_eq!(service.run(args).await.code, Some(2), "{args:?}");
    }
    assert_eq!(left(&service).await, 3);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_stands_behind_an_id_may_be_long() {
    let (service, ids) = service().await;
    let input = format!("{}\tann@sender.test\t{}\n{}\n", ids[0], "ü".repeat(5_000), ids[1]);
    with_input(&service, &["delete", "-", "--yes"], &input).await.ok();
    assert_eq!(left(&service).await, 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn standard_input_is_read_for_one_thing() {
    let (service, ids) = service().await;
    let args = ["--token-file", "-", "delete", "-", "--yes"];
    let outcome = with_input(&service, &args, &format!("{}\n", ids[0])).await;
    assert!(outcome.code == Some(2) && outcome.stderr.contains("it was read before"), "{outcome:?}");
    assert_eq!(left(&service).await, 3);
}

#[test]
fn what_fails_at_once_prints_nothing() {
    for command in ["delete hello@example.test --yes", "webhook rm 0190b6a5-7c3e-4d2f-8a4b-1c5d9e0f2a99 --yes"] {
        let args: Vec<&str> = "--server http://127.0.0.1:1 --json".split(' ').chain(command.split(' ')).collect();
        let outcome = alone(&args);
        assert_eq!((outcome.code, outcome.stdout.as_str()), (Some(6), ""), "{command}: {}", outcome.stderr);
    }
}
