//! Real mail programs send to the program, and what they sent is listed.
//! Promise: it outlives the code below it.

use std::process::{Command, Stdio};

use lettre::{AsyncSmtpTransport, AsyncTransport, Message, Tokio1Executor};
use serde_json::{Value, json};

use super::serve;
use crate::support::program::Program;
use crate::support::{http, programs};

const TO: &str = "hello@example.test";
const HTML: &str = "<html>\n<body><p class=\"a\">Grüße &amp; 日本</p><!-- kept -->\n<a href='https://x.test/?a=1&b=2'>go</a></body>\n</html>\n";

/// The one Email in the inbox, which must have the six fields of the interface and these values.
async fn expect_listed(daemon: &Program, from: &str, subject: &str, message: &str) {
    let page = http::inbox(daemon.http, TO).await;
    assert_eq!((&page["total"], &page["page"], &page["pages"]), (&json!(1), &json!(1), &json!(1)));
    let mut email = page["emails"][0].clone();
    let id = email["id"].take();
    assert!(uuid::Uuid::parse_str(id.as_str().expect("id")).is_ok(), "{id}");
    let received_at = email["receivedAt"].take();
    let parsed = chrono::NaiveDateTime::parse_from_str(received_at.as_str().expect("time"), "%Y-%m-%d %H:%M:%S");
    assert!(parsed.is_ok(), "{received_at}");
    let expected = json!({
        "id": Value::Null, "receivedAt": Value::Null,
        "recipient": TO, "from": from, "subject": subject, "message": message,
    });
    assert_eq!(email, expected);
}

#[tokio::test]
#[ignore = "needs swaks"]
async fn swaks() {
    let swaks = programs::find("swaks");
    let (_dir, daemon) = serve(&[]);
    let mut command = Command::new(swaks);
    command.args(["--server", "127.0.0.1", "--port", &daemon.smtp.port().to_string(), "--to", TO]);
    command.args(["--from", "ann@sender.test", "--header", "Subject: from swaks", "--body", "Hello <you>"]);
    programs::run(&mut command, "");
    let page = http::inbox(daemon.http, TO).await;
    let message = page["emails"][0]["message"].as_str().expect("message").to_owned();
    assert!(message.contains("Hello &lt;you&gt;"), "{message}");
    expect_listed(&daemon, "ann@sender.test", "from swaks", &message).await;
}

#[tokio::test]
#[ignore = "needs swaks"]
async fn the_html_of_a_multi_part_mail_from_swaks_is_unchanged() {
    let swaks = programs::find("swaks");
    let (_dir, daemon) = serve(&[]);
    let mail = format!(
        "From: Ann <ann@sender.test>\nTo: {TO}\nSubject: =?utf-8?q?Gr=C3=BC=C3=9Fe?=\nMIME-Version: 1.0\n\
         Content-Type: multipart/alternative; boundary=cut\n\n--cut\nContent-Type: text/plain; charset=utf-8\n\n\
         plain\n--cut\nContent-Type: text/html; charset=utf-8\nContent-Transfer-Encoding: 8bit\n\n{HTML}\n--cut--\n"
    );
    let mut command = Command::new(swaks);
    command.args(["--server", "127.0.0.1", "--port", &daemon.smtp.port().to_string(), "--to", TO]);
    command.args(["--from", "bounces@sender.test", "--data", "-"]);
    programs::run(&mut command, &mail);
    expect_listed(&daemon, "ann@sender.test", "Grüße", &HTML.replace('\n', "\r\n")).await;
}

#[tokio::test]
#[ignore = "needs Python"]
async fn smtplib_of_python() {
    let python = programs::find("python3");
    let (_dir, daemon) = serve(&[]);
    let script = format!(
        "import smtplib, email.message\nm = email.message.EmailMessage()\nm['From'] = 'Ann <ann@sender.test>'\n\
         m['To'] = '{TO}'\nm['Subject'] = 'Grüße from smtplib'\nm.set_content('plain')\n\
         m.add_alternative('<p>hi</p>', subtype='html')\n\
         with smtplib.SMTP('127.0.0.1', {}) as s:\n    s.send_message(m)\n",
        daemon.smtp.port()
    );
    programs::run(Command::new(python).arg("-").env("PYTHONUTF8", "1"), &script);
    expect_listed(&daemon, "ann@sender.test", "Grüße from smtplib", "<p>hi</p>\r\n").await;
}

#[tokio::test]
#[ignore = "needs msmtp"]
async fn msmtp() {
    let msmtp = programs::find("msmtp");
    let (dir, daemon) = serve(&[]);
    let config = dir.path().join("msmtprc");
    std::fs::write(&config, "").expect("write");
    let mut command = Command::new(msmtp);
    command.arg("-C").arg(config).args(["--host=127.0.0.1", "--auth=off", "--tls=off", "--from=ann@sender.test"]);
    command.args([&format!("--port={}", daemon.smtp.port()), TO]);
    let mail = "From: ann@sender.test\nSubject: from msmtp\nContent-Type: text/html\n\n<b>x</b>\n.dot\n";
    programs::run(&mut command, mail);
    expect_listed(&daemon, "ann@sender.test", "from msmtp", "<b>x</b>\r\n.dot\r\n").await;
}

#[tokio::test]
#[ignore = "needs Postfix's smtp-source"]
async fn smtp_source_over_ten_sessions() {
    let smtp_source = programs::find("smtp-source");
    let (_dir, daemon) = serve(&[]);
    let mut command = Command::new(smtp_source);
    command.args(["-s", "10", "-m", "500", "-l", "1000", "-f", "ann@sender.test", "-t", TO]);
    command.arg(format!("inet:127.0.0.1:{}", daemon.smtp.port()));
    programs::run(&mut command, "");
    let page = http::inbox(daemon.http, TO).await;
    assert_eq!((&page["total"], &page["pages"], &page["limit"]), (&json!(500), &json!(5), &json!(100)));
}

#[tokio::test]
async fn lettre() {
    let (_dir, daemon) = serve(&[]);
    let mail = Message::builder()
        .from("Ann <ann@sender.test>".parse().expect("address"))
        .to(TO.parse().expect("address"))
        .subject("from lettre")
        .header(lettre::message::header::ContentType::TEXT_HTML)
        .body("<p>hi</p>".to_owned())
        .expect("a mail");
    let transport =
        AsyncSmtpTransport::<Tokio1Executor>::builder_dangerous("127.0.0.1").port(daemon.smtp.port()).build();
    transport.send(mail).await.expect("accepted");
    expect_listed(&daemon, "ann@sender.test", "from lettre", "<p>hi</p>\r\n").await;
}

#[tokio::test]
#[ignore = "needs msmtp"]
async fn msmtp_reports_a_451_and_delivers_the_second_time() {
    let msmtp = programs::find("msmtp");
    let (_dir, daemon) = serve(&["--fault", "RCPT hello@* #1 451 4.3.0"]);
    let send = || {
        let mut command = Command::new(&msmtp);
        command.args(["-C", "/dev/null", "--host=127.0.0.1", "--auth=off", "--tls=off", "--from=ann@sender.test"]);
        command.args([&format!("--port={}", daemon.smtp.port()), TO]).stdin(Stdio::null());
        command.output().expect("msmtp")
    };
    let refused = send();
    let said = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert!(!refused.status.success() && said.contains("451 4.3.0"), "{said}");
    assert_eq!(http::total(daemon.http, TO).await, 0);
    assert!(send().status.success());
    assert_eq!(http::total(daemon.http, TO).await, 1);
}
