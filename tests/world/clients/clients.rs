//! Other mail programs send to the program, each with the settings of an ordinary application.

use std::path::Path;
use std::process::Command;

use serde_json::Value;

use crate::support::certificates::Pair;
use crate::support::program::Program;
use crate::support::{http, programs};

/// What a client must know about the server and the message.
struct Job<'a> {
    /// The port of SMTP, with STARTTLS.
    port: u16,
    /// The port of SMTP with TLS from the first octet.
    tls_port: u16,
    /// The server's certificate, for `localhost`.
    certificate: &'a Path,
    to: &'a str,
    /// An empty directory of its own.
    dir: &'a Path,
}

/// One way to send the mail `MAIL` with a program.
struct Client {
    name: &'static str,
    program: &'static str,
    /// The arguments, and the standard input.
    arrange: fn(&Job, &mut Command) -> String,
    /// What it prints before it reads: it sends its input at once.
    prompt: &'static str,
    /// What it prints on success, or nothing if only its exit code shows success.
    says: &'static str,
    /// The protocol in the Received field.
    with: &'static str,
}

/// A line of dots and one with 8 bits, which every client must bring through.
pub(super) const MAIL: &str = "From: Ann <ann@sender.test>\nSubject: hi\nContent-Type: text/plain; charset=utf-8\nContent-Transfer-Encoding: 8bit\n\n.\n..two\nGrüße\n";

const CLIENTS: &[Client] = &[
    Client {
        name: "swaks",
        program: "swaks",
        arrange: |job, command| swaks(job.port, job, command, &[]),
        prompt: "",
        says: "<-  250 2.0.0 Stored",
        with: "ESMTP",
    },
    Client {
        name: "swaks, pipelining",
        program: "swaks",
        arrange: |job, command| swaks(job.port, job, command, &["--pipeline"]),
        prompt: "",
        says: "<-  250 2.0.0 Stored",
        with: "ESMTP",
    },
    Client {
        name: "swaks, HELO",
        program: "swaks",
        arrange: |job, command| swaks(job.port, job, command, &["--protocol", "SMTP"]),
        prompt: "",
        says: "<-  250 2.0.0 Stored",
        with: "SMTP",
    },
    Client {
        name: "swaks, STARTTLS and pipelining",
        program: "swaks",
        arrange: |job, command| swaks(job.port, job, command, &["--tls", "--pipeline"]),
        prompt: "",
        says: "<~  250 2.0.0 Stored",
        with: "ESMTPS",
    },
    Client {
        name: "swaks, TLS from the first octet",
        program: "swaks",
        arrange: |job, command| swaks(job.tls_port, job, command, &["--tls-on-connect"]),
        prompt: "",
        says: "<~  250 2.0.0 Stored",
        with: "ESMTPS",
    },
    Client {
        name: "swaks, AUTH PLAIN",
        program: "swaks",
        arrange: |job, command| swaks(job.port, job, command, &["--auth", "PLAIN", "-au", "app", "-ap", "secret"]),
        prompt: "",
        says: "<-  250 2.0.0 Stored",
        with: "ESMTPA",
    },
    Client {
        name: "swaks, STARTTLS and AUTH LOGIN",
        program: "swaks",
        arrange: |job, command| {
            swaks(job.port, job, command, &["--tls", "--auth", "LOGIN", "-au", "app", "-ap", "secret"])
        },
        prompt: "",
        says: "<~  250 2.0.0 Stored",
        with: "ESMTPSA",
    },
    Client {
        name: "msmtp",
        program: "msmtp",
        arrange: |job, command| msmtp(job.port, job, command, &["--tls=off"]),
        prompt: "",
        says: "",
        with: "ESMTP",
    },
    Client {
        name: "msmtp, STARTTLS",
        program: "msmtp",
        arrange: |job, command| msmtp(job.port, job, command, &["--tls=on", "--tls-starttls=on"]),
        prompt: "",
        says: "",
        with: "ESMTPS",
    },
    Client {
        name: "msmtp, TLS from the first octet",
        program: "msmtp",
        arrange: |job, command| msmtp(job.tls_port, job, command, &["--tls=on", "--tls-starttls=off"]),
        prompt: "",
        says: "",
        with: "ESMTPS",
    },
    Client { name: "curl", program: "curl", arrange: curl, prompt: "", says: "", with: "ESMTP" },
    Client {
        name: "OpenSSL's s_client, STARTTLS",
        program: "openssl",
        arrange: |job, command| s_client(job.port, job, command, &["-starttls", "smtp"]),
        prompt: "",
        says: "250 2.0.0 Stored",
        with: "ESMTPS",
    },
    Client {
        name: "OpenSSL's s_client, TLS from the first octet",
        program: "openssl",
        arrange: |job, command| s_client(job.tls_port, job, command, &[]),
        prompt: "220 ",
        says: "250 2.0.0 Stored",
        with: "ESMTPS",
    },
    Client {
        name: "Python's smtplib",
        program: "python3",
        arrange: |job, command| smtplib(job, command, "smtplib.SMTP('localhost', PORT)", &[]),
        prompt: "",
        says: "sent",
        with: "ESMTP",
    },
    // Of these programs only smtplib can ask for SMTPUTF8.
    Client {
        name: "Python's smtplib, SMTPUTF8",
        program: "python3",
        arrange: |job, command| {
            smtplib(job, command, "smtplib.SMTP('localhost', PORT)", &["SMTPUTF8", "BODY=8BITMIME"])
        },
        prompt: "",
        says: "sent",
        with: "UTF8SMTP",
    },
    Client {
        name: "Python's smtplib, TLS from the first octet",
        program: "python3",
        arrange: |job, command| smtplib(job, command, "smtplib.SMTP_SSL('localhost', TLS_PORT, context=tls)", &[]),
        prompt: "",
        says: "sent",
        with: "ESMTPS",
    },
];

fn swaks(port: u16, job: &Job, command: &mut Command, more: &[&str]) -> String {
    command.args(["--server", "127.0.0.1", "--port", &port.to_string(), "--to", job.to]);
    command.args(["--from", "ann@sender.test", "--data", "-"]).args(more);
    MAIL.to_owned()
}

fn msmtp(port: u16, job: &Job, command: &mut Command, more: &[&str]) -> String {
    let config = job.dir.join("msmtprc");
    std::fs::write(&config, "").expect("write");
    command.arg("-C").arg(config).args(["--host=localhost", "--auth=off", "--from=ann@sender.test"]);
    command.arg(format!("--tls-trust-file={}", job.certificate.display())).args(more);
    command.args([&format!("--port={port}"), job.to]);
    MAIL.to_owned()
}

fn curl(job: &Job, command: &mut Command) -> String {
    let mail = job.dir.join("mail");
    std::fs::write(&mail, MAIL.replace('\n', "\r\n")).expect("write");
    command.args(["--silent", "--show-error", &format!("smtp://127.0.0.1:{}/client.test", job.port)]);
    command.args(["--mail-from", "ann@sender.test", "--mail-rcpt", job.to, "--upload-file"]).arg(mail);
    String::new()
}

/// The whole dialog as a person types it, dots doubled.
fn s_client(port: u16, job: &Job, command: &mut Command, more: &[&str]) -> String {
    command.args(["s_client", "-quiet", "-crlf", "-connect", &format!("127.0.0.1:{port}")]).args(more);
    command.args(["-verify_return_error", "-verify_hostname", "localhost", "-CAfile"]).arg(job.certificate);
    let mail = MAIL.replace("\n.", "\n..");
    format!("EHLO client.test\nMAIL FROM:<ann@sender.test>\nRCPT TO:<{}>\nDATA\n{mail}.\nQUIT\n", job.to)
}

/// `connect` makes the connection; `PORT` and `TLS_PORT` stand for the ports, and `tls` trusts the server's certificate.
fn smtplib(job: &Job, command: &mut Command, connect: &str, options: &[&str]) -> String {
    command.arg("-").env("PYTHONUTF8", "1");
    let connect = connect.replace("TLS_PORT", &job.tls_port.to_string()).replace("PORT", &job.port.to_string());
    let sender = if options.contains(&"SMTPUTF8") { "J\u{f5}geva@b\u{fc}cher.test" } else { "ann@sender.test" };
    format!(
        "import smtplib, ssl\n\
         tls = ssl.create_default_context(cafile={:?})\n\
         mail = {MAIL:?}.replace('\\n', '\\r\\n').encode()\n\
         with {connect} as s:\n    \
             s.sendmail('{sender}', [{:?}], mail, {options:?})\n\
         print('sent')\n",
        job.certificate.to_str().expect("a path in UTF-8"),
        job.to
    )
}

#[tokio::test]
async fn each_client_gets_its_mail_through() {
    let dir = tempfile::tempdir().expect("directory");
    let files = Pair::fresh().write(dir.path());
    let daemon = serve(dir.path(), &["--domain", "example.test", "--smtps-listen", "127.0.0.1:0"]);
    let status: Value = serde_json::from_str(&daemon.tempmail(&["status", "--json"]).stdout).expect("status");
    let smtps = status["smtpsListen"][0].as_str().expect("an address");
    let tls_port = smtps.parse::<std::net::SocketAddr>().expect("an address").port();
    for (number, client) in CLIENTS.iter().enumerate() {
        let Some(program) = programs::find(client.program, client.name) else { continue };
        let to = format!("client{number}@example.test");
        let of_client = tempfile::tempdir().expect("directory");
        let mut command = Command::new(program);
        let certificate = &files.certificate;
        let job = Job { port: daemon.smtp.port(), tls_port, certificate, to: &to, dir: of_client.path() };
        let input = (client.arrange)(&job, &mut command);
        let output = programs::run_after(client.prompt, &mut command, &input);
        let said = String::from_utf8_lossy(&output.stdout);
        assert!(said.contains(client.says), "{}: {said}", client.name);

        let page = http::inbox(daemon.http, &to).await;
        assert_eq!(page["total"], 1, "{}", client.name);
        let id = page["emails"][0]["id"].as_str().expect("id");
        let raw = http::raw(daemon.http, id).await.expect("its octets");
        let raw = String::from_utf8_lossy(&raw);
        assert!(raw.contains("\r\n\r\n.\r\n..two\r\nGrüße\r\n"), "{}: {raw}", client.name);
        assert!(raw.contains(&format!(" with {}\r\n", client.with)), "{}: {raw}", client.name);
    }
    daemon.stop();
}

/// The daemon with the certificate that is in `dir`, which takes any credentials.
pub(super) fn serve(dir: &Path, more: &[&str]) -> Program {
    let (certificate, key) = (dir.join("cert.pem"), dir.join("key.pem"));
    let tls = ["--tls-cert", certificate.to_str().expect("UTF-8"), "--tls-key", key.to_str().expect("UTF-8")];
    Program::serve(dir, &[&tls[..], &["--smtp-auth", "accept-any"], more].concat())
}
