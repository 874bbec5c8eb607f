//! Lists of webhooks with content that is wide, hostile or missing, at three widths and in each form.
//! Promise: it outlives the code below it.

use super::SNAPSHOTS;
use crate::cli::TO;
use crate::cli::service::Service;
use crate::cli::service::webhooks::{delivery, webhook};
use crate::support::program::{Program, local, terminal_command};
use crate::support::transcript::Transcript;

/// The snapshots, each with its command.
const LISTS: [(&str, &[&str]); 3] = [
    ("list_webhook", &["webhook", "ls", TO]),
    ("list_webhook_all", &["webhook", "ls", "--all"]),
    ("list_webhook_deliveries", &["webhook", "deliveries", "0190b6a5-7c3e-4d2f-8a4b-1c5d9e0f2a01"]),
];
/// The snapshot of what is shown where there is nothing.
const EMPTY: &str = "list_empty";
/// The names of the snapshots.
pub(super) fn names() -> impl Iterator<Item = String> {
    LISTS.iter().map(|(name, _)| *name).chain([EMPTY]).map(str::to_owned)
}

#[test]
fn each_list_of_webhooks_at_each_width_and_in_each_form() {
    let service = Service::start();
    let mut disabled = webhook(2, TO, "http://漢字.example/\u{202e}");
    disabled["status"] = "disabled".into();
    disabled["disabledReason"] = "no answer for 5 days: the name in its URL does not resolve".into();
    (disabled["failures"], disabled["dropped"]) = (12_345.into(), 1_234_567.into());
    disabled["lastDeliveryAt"] = "2023-11-14 22:13:20".into();
    disabled["registeredBy"] = "2001:db8:1234:5678::/64".into();
    let long = "https://hooks.example/mail/with/a/path/that/does/not/end/soon?token=secret";
    service.contents().webhooks =
        vec![webhook(1, TO, "https://hooks.example/x"), disabled, webhook(3, "漢字かな交じり文@example.test", long)];
    let mut hostile = delivery("retry", Some(503));
    hostile["response"] = "<html>\u{1b}[2J漢字かな交じり文の答え\u{202e}".into();
    service.contents().deliveries =
        vec![delivery("delivered", Some(200)), hostile, delivery("retry", None), delivery("given_up", None)];
    for (name, args) in LISTS {
        Transcript::of_each_form(service.data_dir(), args).check(SNAPSHOTS, name);
    }
}

#[test]
fn a_list_without_anything_says_so() {
    let daemon = Program::fresh(&[]);
    let mut transcript = Transcript::default();
    for args in [
        &["inbox", TO][..],
        &["inbox"],
        &["inbox", "--mailboxes"],
        &["domain", "ls"],
        &["token", "ls"],
        &["fault", "ls"],
        &["webhook", "ls", TO],
        &["webhook", "ls", "--all"],
    ] {
        transcript.on_terminal(80, args, terminal_command(daemon.dir(), args));
        for form in ["tsv", "json"] {
            let args = [args, &["-o", form]].concat();
            transcript.add(&args, &local(daemon.dir(), &args));
        }
    }
    transcript.check(SNAPSHOTS, EMPTY);
}
