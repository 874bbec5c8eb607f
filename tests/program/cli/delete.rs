//! `tempmail delete`
//! Promise: it outlives the code below it.

use super::service::{Service, email, id_of};
use super::{Outcome, TO};
use crate::support::command::fed;

fn service() -> Service {
    let service = Service::start();
    service.contents().emails = vec![email(3, "other@example.test", "x"), email(2, TO, "b"), email(1, TO, "a")];
    service
}

fn left(service: &Service) -> usize {
    service.contents().emails.len()
}

fn with_input(service: &Service, args: &[&str], input: &str) -> Outcome {
    fed(&mut service.command(args), input)
}

#[test]
fn without_a_terminal_yes_is_demanded_and_named() {
    let service = service();
    for args in [&["delete", TO][..], &["delete", "--id", &id_of(1)], &["delete", "-"]] {
        let outcome = with_input(&service, args, "y\n");
        assert_eq!((outcome.code, outcome.stdout.as_str()), (Some(2), ""), "{args:?}");
        assert!(outcome.stderr.contains("--yes"), "{}", outcome.stderr);
    }
    assert!(service.contents().requests.is_empty());
}

#[test]
fn an_inbox_goes_and_is_counted() {
    let service = service();
    assert_eq!(service.run(&["delete", TO, "--yes"]).stdout, format!("{TO}\t2\n"));
    assert_eq!(left(&service), 1);
    let again = service.run(&["delete", TO, "--yes", "--json"]);
    assert_eq!((again.code, again.stdout.as_str()), (Some(0), "{\n  \"deleted\": 0\n}\n"));
}

#[test]
fn ids_go_one_by_one_and_an_unknown_one_is_exit_code_3() {
    let service = service();
    let outcome = service.run(&["delete", "--yes", "--id", &id_of(1), &id_of(9), &id_of(2)]);
    assert_eq!(outcome.code, Some(3));
    assert_eq!(outcome.stdout, format!("{}\t1\n{}\t0\n{}\t1\n", id_of(1), id_of(9), id_of(2)));
    assert!(outcome.stderr.contains(&id_of(9)), "{}", outcome.stderr);
    assert_eq!(left(&service), 1);
}

#[test]
fn many_ids_go_a_hundred_at_a_time_and_each_unknown_one_is_said() {
    let service = Service::start();
    service.contents().emails =
        (1..=240).map(|n| email(n, TO, "x")).chain([email(241, "other@example.test", "x")]).collect();
    // In the first batch one is named twice, in the second one is unknown; an address stands between.
    let named = [1, 1].into_iter().chain(2..=150).chain([255]).chain(151..=240);
    let lines: Vec<String> = named.map(id_of).collect();
    let input = format!("{}\nother@example.test\n{}\n", lines[..120].join("\n"), lines[120..].join("\n"));
    let outcome = with_input(&service, &["delete", "-", "--yes"], &input);
    assert_eq!((outcome.code, left(&service)), (Some(3), 0), "{}", outcome.stderr);
    let mut rows: Vec<String> = lines[1..].iter().map(|id| format!("{id}\t1")).collect();
    rows[150] = format!("{}\t0", id_of(255));
    rows.insert(119, "other@example.test\t1".to_owned());
    assert_eq!(outcome.stdout.lines().collect::<Vec<_>>(), rows);
    assert!(outcome.stderr.contains(&id_of(255)) && !outcome.stderr.contains("more"), "{}", outcome.stderr);
    let requests = service.contents().requests.iter().filter(|request| request.starts_with("DELETE ")).count();
    assert_eq!(requests, 2 + 1 + 2, "a request deletes up to 100");
}

#[test]
fn a_dry_run_needs_no_yes_and_deletes_nothing() {
    let service = service();
    let outcome = service.run(&["delete", TO, "--dry-run"]);
    assert_eq!((outcome.code, outcome.stdout), (Some(0), format!("{TO}\t2\n")));
    assert_eq!(
        service.run(&["delete", "--dry-run", "--id", &id_of(1), "--json"]).stdout,
        "{\n  \"wouldDelete\": 1\n}\n"
    );
    assert_eq!(service.run(&["delete", "--dry-run", "--id", &id_of(9)]).code, Some(3));
    assert_eq!(left(&service), 3);
    assert!(service.contents().requests.iter().all(|request| request.starts_with("GET ")));
}

#[test]
fn standard_input_names_what_goes() {
    let service = service();
    let listed = service.run(&["inbox", TO]).stdout;
    let outcome = with_input(&service, &["delete", "-", "--yes"], &format!("{listed}other@example.test\n"));
    assert_eq!((outcome.code, left(&service)), (Some(0), 0), "{}", outcome.stderr);
}

#[test]
fn one_bad_line_stops_everything_before_it_begins() {
    let service = service();
    let outcome = with_input(&service, &["delete", "-", "--yes"], &format!("{}\nnonsense\n", id_of(1)));
    assert_eq!(outcome.code, Some(2));
    assert!(outcome.stderr.contains("line 2"), "{}", outcome.stderr);
    assert_eq!(left(&service), 3);
}

#[test]
fn something_must_be_named_and_only_once() {
    let service = service();
    for args in
        [&["delete"][..], &["delete", TO, "--id", &id_of(1)], &["delete", "nobody", "--yes"], &["delete", "--id", "x"]]
    {
        assert_eq!(service.run(args).code, Some(2), "{args:?}");
    }
    assert_eq!(left(&service), 3);
}
