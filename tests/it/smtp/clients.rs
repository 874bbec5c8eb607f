//! Mail programs of others, each with the settings of an ordinary application, against the binary.

use std::path::Path;
use std::process::Command;

use crate::support::binary::Binary;
use crate::support::{http, programs};

/// What a client is told about the server and the message.
struct Job<'a> {
    port: u16,
    to: &'a str,
    /// An empty directory of its own.
    dir: &'a Path,
}

/// One way to send the mail `MAIL` with a program.
struct Client {
    name: &'static str,
    program: &'static str,
    /// The arguments, and what it reads.
    arrange: fn(&Job, &mut Command) -> String,
    /// What it says when all went well; nothing where its exit code says it.
    says: &'static str,
}

/// A line of dots and one with 8 bits, which every client must bring through.
const MAIL: &str = "From: Ann <ann@sender.test>\nSubject: hi\nContent-Type: text/plain; charset=utf-8\nContent-Transfer-Encoding: 8bit\n\n.\n..two\nGrüße\n";

const CLIENTS: &[Client] = &[
    Client {
        name: "swaks",
        program: "swaks",
        arrange: |job, command| swaks(job, command, &[]),
        says: "<-  250 2.0.0 Stored",
    },
    Client {
        name: "swaks, pipelining",
        program: "swaks",
        arrange: |job, command| swaks(job, command, &["--pipeline"]),
        says: "<-  250 2.0.0 Stored",
    },
    Client {
        name: "swaks, HELO",
        program: "swaks",
        arrange: |job, command| swaks(job, command, &["--protocol", "SMTP"]),
        says: "<-  250 2.0.0 Stored",
    },
    Client { name: "msmtp", program: "msmtp", arrange: |job, command| msmtp(job, command, &["--tls=off"]), says: "" },
    Client { name: "curl", program: "curl", arrange: curl, says: "" },
    Client {
        name: "Python's smtplib",
        program: "python3",
        arrange: |job, command| smtplib(job, command, "smtplib.SMTP('127.0.0.1', PORT)"),
        says: "sent",
    },
];

fn swaks(job: &Job, command: &mut Command, more: &[&str]) -> String {
    command.args(["--server", "127.0.0.1", "--port", &job.port.to_string(), "--to", job.to]);
    command.args(["--from", "ann@sender.test", "--data", "-"]).args(more);
    MAIL.to_owned()
}

fn msmtp(job: &Job, command: &mut Command, more: &[&str]) -> String {
    let config = job.dir.join("msmtprc");
    std::fs::write(&config, "").expect("write");
    command.arg("-C").arg(config).args(["--host=127.0.0.1", "--auth=off", "--from=ann@sender.test"]).args(more);
    command.args([&format!("--port={}", job.port), job.to]);
    MAIL.to_owned()
}

fn curl(job: &Job, command: &mut Command) -> String {
    let mail = job.dir.join("mail");
    std::fs::write(&mail, MAIL.replace('\n', "\r\n")).expect("write");
    command.args(["--silent", "--show-error", &format!("smtp://127.0.0.1:{}/client.test", job.port)]);
    command.args(["--mail-from", "ann@sender.test", "--mail-rcpt", job.to, "--upload-file"]).arg(mail);
    String::new()
}

/// `connect` makes the connection; `PORT` stands for the port.
fn smtplib(job: &Job, command: &mut Command, connect: &str) -> String {
    command.arg("-").env("PYTHONUTF8", "1");
    let connect = connect.replace("PORT", &job.port.to_string());
    format!(
        "import smtplib\nmail = {MAIL:?}\nwith {connect} as s:\n    s.sendmail('ann@sender.test', ['{}'], mail.replace('\\n', '\\r\\n').encode())\nprint('sent')\n",
        job.to
    )
}

#[tokio::test]
async fn each_client_gets_its_mail_through() {
    let dir = tempfile::tempdir().expect("directory");
    let daemon = Binary::serve(dir.path(), &["--domain", "example.test"]);
    for (number, client) in CLIENTS.iter().enumerate() {
        let Some(program) = programs::find(client.program, client.name) else { continue };
        let to = format!("client{number}@example.test");
        let of_client = tempfile::tempdir().expect("directory");
        let mut command = Command::new(program);
        let input = (client.arrange)(&Job { port: daemon.smtp.port(), to: &to, dir: of_client.path() }, &mut command);
        let output = programs::run(&mut command, &input);
        let said = String::from_utf8_lossy(&output.stdout);
        assert!(said.contains(client.says), "{}: {said}", client.name);

        let page = http::inbox(daemon.http, &to).await;
        assert_eq!(page["total"], 1, "{}", client.name);
        let id = page["emails"][0]["id"].as_str().expect("id");
        let raw = http::raw(daemon.http, id).await.expect("its octets");
        let body = "\r\n\r\n.\r\n..two\r\nGrüße\r\n";
        let at = String::from_utf8_lossy(&raw).find(body);
        assert!(at.is_some(), "{}: {}", client.name, raw.escape_ascii());
    }
    daemon.stop();
}
