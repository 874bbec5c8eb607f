//! What the daemon knows is offered, and what a stranger wrote does no harm.
//! Promise: it outlives the code below it.

use serde_json::{Value, json};

use crate::support::completions::{HOSTILE_LOCAL, Machine, complete, gives, offers};
use crate::support::front::{Answer, Front};

const NONE: [&str; 0] = [];

/// A service that knows these domains.
fn with_domains(names: &[&str]) -> Front {
    let front = Front::alone();
    let domain = |name: &&str| json!({"domain": name, "status": "active", "addedAt": "2023-11-14 22:13:20", "lastCheckedAt": null, "lastCheckResult": null});
    front.answers("GET /api/domains", Answer::json(&names.iter().map(domain).collect::<Value>()));
    front
}

#[test]
fn values_come_from_the_daemon() {
    let machine = Machine::start();
    let run = |args: &[&str]| {
        let outcome = machine.daemon.tempmail(args).ok();
        outcome.stdout
    };
    let added = run(&["webhook", "add", "ann@example.test", "http://127.0.0.1:9/hook", "-o", "id"]);
    let (ids, webhook) = (machine.ids("bob@example.test"), added.trim()[28..].to_owned());

    machine.offers("tempmail inbox ", &["bob@example.test", "ann@example.test"]);
    machine.offers("tempmail wait an", &["ann@example.test"]);
    machine.offers("tempmail inbox cat@exa", &["cat@example.org", "cat@example.test"]);
    machine.offers("tempmail inbox bob@", &["bob@example.test", "bob@example.org"]);
    machine.offers("tempmail delete bob@example.test --id ", &ids);
    machine.offers("tempmail read bob@example.test ", &ids);
    machine.offers("tempmail domain rm ", &["example.org", "example.test"]);
    machine.offers("tempmail new --domain=example.o", &["--domain=example.org"]);
    machine.offers("tempmail webhook rm ", &[&webhook]);
    machine.offers("tempmail help exit", &["exit-codes"]);
    machine.offers("tempmail help domain ver", &["verify"]);
    machine.offers("tempmail read bo", &["bob@example.test"]);
    machine.offers(&format!("tempmail read {}", &ids[0][..6]), &ids[..1]);

    let described = |line: &str, text: &str| gives(|| machine.complete(line).stdout, line, text);
    let (newest, oldest) = (&ids[0], &ids[1]);
    described(
        "tempmail read bob@example.test ",
        &format!("{newest}\tstranger@sender.test  second\n{oldest}\tstranger@sender.test  first\n"),
    );
    described("tempmail webhook rm ", &format!("{webhook}\tann@example.test  http://127.0.0.1:9/hook\n"));
}

#[test]
fn the_beginning_of_an_id_completes_to_the_whole_id() {
    let machine = Machine::start();
    let listed = machine.daemon.tempmail(&["inbox", "bob@example.test", "-o", "id"]).stdout;
    let newest = listed.lines().next().expect("an id");
    // All but the last two digits, which tell one mail from the others.
    machine.offers(&format!("tempmail read bob@example.test {}", &newest[..34]), &[newest]);
}

#[test]
fn what_a_stranger_wrote_cannot_leave_its_line() {
    let names = ["a`b`.test", "$(c).test", "d\te.test", "f\ng.test", "-h.test", "i j", "", "good.test"];
    let front = with_domains(&names);
    let hostile = "$(touch pwned) `touch pwned` \"'\\ a\tb\r\nc\u{1b}]0;pwned\u{7}\u{202e}\u{85}d\0";
    let mail = json!({
        "id": "0190b6a5-7c3e-7d2f-8a4b-1c5d9e0f2a01", "recipient": "ann@example.test", "from": "ann@sender.test",
        "subject": hostile, "receivedAt": "2023-11-14 22:13:20",
    });
    let page = json!({ "emails": [mail], "total": 1, "page": 1, "limit": 20, "pages": 1 });
    front.answers("GET /api/mail/messages", Answer::json(&page));
    let home = tempfile::tempdir().expect("directory");
    let server = [("TEMPMAIL_SERVER", front.url())];
    let server = server.each_ref().map(|(name, url)| (*name, url.as_str()));
    let subject = "$(touch pwned) `touch pwned` \"'\\ a b  c␛]0;pwned␇<U+202E> d␀";
    let mail = format!("9e0f2a01\tann@sender.test  {subject}\n");
    for (line, text) in
        [("tempmail read ann@example.test ", mail.as_str()), ("tempmail domain rm ", "good.test\tactive\n")]
    {
        gives(|| complete(home.path(), &server, line).stdout, line, text);
    }
}

#[test]
fn an_address_that_a_shell_would_act_on_is_not_offered() {
    let machine = Machine::start();
    let hostile = format!("{HOSTILE_LOCAL}@example.test");
    assert!(machine.daemon.tempmail(&["inbox", &hostile, "-o", "tsv"]).stdout.contains("hello"));
    for line in
        ["tempmail inbox ", "tempmail inbox an", "tempmail inbox 'an`", "tempmail inbox 'an`touch`$HOME|b&c!{d}@exa"]
    {
        let shown = machine.complete(line).stdout;
        assert!(!shown.contains('`') && !shown.contains('$'), "{line}: {shown}");
    }
}

#[test]
fn flags_and_variables_say_who_is_asked() {
    let (one, two) = (Machine::start(), with_domains(&["elsewhere.test"]));
    let home = tempfile::tempdir().expect("directory");
    let of = |env: &[(&str, &str)], line: &str, expected: &[&str]| {
        offers(|| complete(home.path(), env, line), line, expected);
    };
    let (here, there) = (one.data_dir.path().to_str().expect("path"), two.url());
    let (elsewhere, both) = (["elsewhere.test"], ["example.org", "example.test"]);
    of(&[], "tempmail domain rm ", &NONE);
    of(&[("TEMPMAIL_SERVER", &there)], "tempmail domain rm ", &elsewhere);
    of(&[("TEMPMAIL_DATA_DIR", here)], &format!("tempmail --server {there} domain rm "), &elsewhere);
    of(&[("TEMPMAIL_SERVER", &there)], &format!("tempmail --data-dir={here} domain rm e"), &both);
    of(&[("DIR", here)], "tempmail domain --data-dir \"$DIR\" rm e", &both);
}

#[test]
fn a_server_gives_the_public_public_things_and_a_token_the_rest() {
    let machine = Machine::start();
    let server = format!("http://{}", machine.daemon.http);
    let token = machine.daemon.tempmail(&["token", "new", "--name", "ci"]).stdout;
    let file = machine.home.path().join("token");
    std::fs::write(&file, &token).expect("write");
    let of = |env: &[(&str, &str)], line: &str, expected: &[&str]| {
        offers(|| complete(machine.home.path(), env, line), line, expected);
    };
    let public = [("TEMPMAIL_SERVER", server.as_str())];
    of(&public, "tempmail inbox ", &NONE);
    of(&public, "tempmail webhook rm ", &NONE);
    of(&public, "tempmail read ", &NONE);
    of(&public, "tempmail inbox ann@example.t", &["ann@example.test"]);
    of(&public, "tempmail domain check-dns example.t", &["example.test"]);
    let ids = machine.ids("ann@example.test");
    of(&public, "tempmail read ann@example.test ", &ids.iter().map(String::as_str).collect::<Vec<_>>());
    let bearer = [public[0], ("TEMPMAIL_TOKEN", token.trim())];
    of(&bearer, "tempmail inbox an", &["ann@example.test"]);
    of(&public, &format!("tempmail --token-file {} inbox an", file.display()), &["ann@example.test"]);
}

#[test]
fn private_addresses_of_the_user_come_first() {
    let machine = Machine::start();
    machine.daemon.tempmail(&["new", "--private", "zoe@example.test"]).ok();
    let dir = machine.data_dir.path();
    let env = [("TEMPMAIL_DATA_DIR", dir.to_str().expect("path"))];
    let line = "tempmail inbox ";
    offers(|| complete(dir, &env, line), line, &["zoe@example.test", "bob@example.test", "ann@example.test"]);
    machine.offers(line, &["bob@example.test", "ann@example.test"]);
}
