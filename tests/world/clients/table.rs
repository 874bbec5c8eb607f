//! Other mail programs send to the program, each with the settings of an ordinary application.
//! Promise: it outlives the code below it.

use std::net::SocketAddr;
use std::path::Path;
use std::process::{Command, Output};

use serde_json::Value;

use super::only_mail;
use crate::support::certificates::Pair;
use crate::support::program::Program;
use crate::support::programs::{find, run, run_after};

/// What a client must know about the server and the message.
struct Job<'a> {
    /// The port of SMTP, with STARTTLS.
    port: String,
    /// The port of SMTP with TLS from the first octet.
    tls_port: String,
    /// The directory of the server's certificate, for `localhost`, and of the socket of LMTP.
    dir: &'a Path,
    from: &'a str,
    to: &'a str,
}

/// A line of dots and one with 8 bits, which every client must bring through.
pub(super) const MAIL: &str = "From: Ann <ann@sender.test>\nSubject: hi\nContent-Type: text/plain; charset=utf-8\nContent-Transfer-Encoding: 8bit\n\n.\n..two\nGrüße\n";

/// A client, which must succeed with the mail `MAIL`, and what makes it a client of another kind.
type Client = (fn(&Job, &[&str]) -> Output, &'static [&'static str]);

/// The clients, and the protocol that the Received field must show, with what follows it.
const CLIENTS: &[(Client, &str)] = &[
    ((swaks, &[]), "ESMTP\r\n"),
    ((swaks, &["--pipeline"]), "ESMTP\r\n"),
    ((swaks, &["--protocol", "SMTP"]), "SMTP\r\n"),
    ((swaks, &["--tls", "--pipeline"]), "ESMTPS\r\n"),
    ((swaks, &["--tls-on-connect"]), "ESMTPS\r\n"),
    ((swaks, &["--auth", "PLAIN", "-au", "app", "-ap", "secret"]), "ESMTPA\r\n"),
    ((swaks, &["--tls", "--auth", "LOGIN", "-au", "app", "-ap", "secret"]), "ESMTPSA\r\n"),
    ((msmtp, &["--tls=off"]), "ESMTP\r\n"),
    ((msmtp, &["--tls=on", "--tls-starttls=on"]), "ESMTPS\r\n"),
    ((msmtp, &["--tls=on", "--tls-starttls=off"]), "ESMTPS\r\n"),
    ((curl, &[]), "ESMTP\r\n"),
    ((s_client, &["-tls1_2", "-starttls", "smtp"]), "ESMTPS\r\n\t(TLSv1.2 with cipher TLS"),
    ((s_client, &["-tls1_3", "-starttls", "smtp"]), "ESMTPS\r\n\t(TLSv1.3 with cipher TLS"),
    ((s_client, &["-tls1_2"]), "ESMTPS\r\n\t(TLSv1.2 with cipher TLS"),
    ((s_client, &["-tls1_3"]), "ESMTPS\r\n\t(TLSv1.3 with cipher TLS"),
    ((smtplib, &["SMTP('localhost', PORT)"]), "ESMTP\r\n"),
    ((smtplib, &["SMTP_SSL('localhost', TLS_PORT, context=tls)"]), "ESMTPS\r\n"),
    ((smtplib, &["LMTP(LMTP_SOCKET)"]), "LMTP\r\n"),
    (
        (smtplib, &["SMTP('localhost', PORT)", "s.starttls(context=tls)", "s.login('app', 'secret')"]),
        "ESMTPSA\r\n\t(TLSv1.3 with cipher TLS",
    ),
    (
        (
            smtplib,
            &[
                "SMTP('localhost', PORT)",
                "s.ehlo()",
                "s.user, s.password = 'app', 'secret'",
                "s.auth('LOGIN', s.auth_login)",
            ],
        ),
        "ESMTPA\r\n",
    ),
    // Of these programs only smtplib can ask for SMTPUTF8.
    ((smtplib, &["SMTP('localhost', PORT)", UTF8]), "UTF8SMTP\r\n\tfor <d\u{f6}rte"),
];

const UTF8: &str = "options = ['SMTPUTF8', 'BODY=8BITMIME']";

fn swaks(job: &Job, flags: &[&str]) -> Output {
    let port = if flags.contains(&"--tls-on-connect") { &job.tls_port } else { &job.port };
    let mut command = Command::new(find("swaks"));
    command.args(["--server", "127.0.0.1", "--port", port, "--from", job.from, "--to", job.to, "--data", "-"]);
    run(command.args(flags), MAIL)
}

fn msmtp(job: &Job, flags: &[&str]) -> Output {
    let port = if flags.contains(&"--tls-starttls=off") { &job.tls_port } else { &job.port };
    let config = job.dir.join("msmtprc");
    std::fs::write(&config, "").expect("write");
    let mut command = Command::new(find("msmtp"));
    command.arg("-C").arg(config).args(["--host=localhost", "--auth=off", &format!("--from={}", job.from)]);
    command.arg(format!("--tls-trust-file={}", job.dir.join("cert.pem").display())).args(flags);
    run(command.args([&format!("--port={port}"), job.to]), MAIL)
}

fn curl(job: &Job, flags: &[&str]) -> Output {
    let mail = job.dir.join("mail");
    std::fs::write(&mail, MAIL.replace('\n', "\r\n")).expect("write");
    let mut command = Command::new(find("curl"));
    command.args(["--silent", "--show-error", &format!("smtp://127.0.0.1:{}/client.test", job.port)]).args(flags);
    run(command.args(["--mail-from", job.from, "--mail-rcpt", job.to, "--upload-file"]).arg(mail), "")
}

/// The whole dialog as a person types it, dots doubled. With STARTTLS it reads the greeting by itself.
fn s_client(job: &Job, flags: &[&str]) -> Output {
    let (port, prompt) = if flags.contains(&"-starttls") { (&job.port, "") } else { (&job.tls_port, "220 ") };
    let mut command = Command::new(find("openssl"));
    command.args(["s_client", "-quiet", "-crlf", "-connect", &format!("127.0.0.1:{port}")]).args(flags);
    command.args(["-verify_return_error", "-verify_hostname", "localhost", "-CAfile"]).arg(job.dir.join("cert.pem"));
    let (from, to, mail) = (job.from, job.to, MAIL.replace("\n.", "\n.."));
    let dialog = format!("EHLO client.test\nMAIL FROM:<{from}>\nRCPT TO:<{to}>\nDATA\n{mail}.\nQUIT\n");
    let output = run_after(prompt, &mut command, &dialog);
    assert!(String::from_utf8_lossy(&output.stdout).contains("221 2.0.0"), "{output:?}");
    output
}

/// The first of `lines` makes the connection; the others come before the mail is sent.
fn smtplib(job: &Job, lines: &[&str]) -> Output {
    let path = |name| job.dir.join(name).display().to_string();
    let script = format!(
        "import smtplib, ssl\n\
         PORT, TLS_PORT, LMTP_SOCKET, options = {}, {}, {:?}, []\n\
         tls = ssl.create_default_context(cafile={:?})\n\
         mail = {MAIL:?}.replace('\\n', '\\r\\n').encode()\n\
         with smtplib.{}\n    \
             s.sendmail('{}', ['{}'], mail, options)\n",
        job.port,
        job.tls_port,
        path("lmtp"),
        path("cert.pem"),
        lines.join("\n    ").replacen(')', ") as s:", 1),
        job.from,
        job.to
    );
    run(Command::new(find("python3")).arg("-").env("PYTHONUTF8", "1"), &script)
}

#[tokio::test]
#[ignore = "needs swaks, msmtp, curl, OpenSSL and Python"]
async fn each_client_gets_its_mail_through() {
    let dir = tempfile::tempdir().expect("directory");
    Pair::fresh().write(dir.path());
    let lmtp = dir.path().join("lmtp");
    let listeners = ["--smtps-listen", "127.0.0.1:0", "--lmtp-listen", lmtp.to_str().expect("UTF-8")];
    let daemon = serve_tls(dir.path(), &listeners);
    let status: Value = serde_json::from_str(&daemon.tempmail(&["status", "--json"]).stdout).expect("status");
    let smtps: SocketAddr = status["smtpsListen"][0].as_str().expect("a listener").parse().expect("an address");
    for (number, ((send, more), with)) in CLIENTS.iter().enumerate() {
        let is_utf8 = more.contains(&UTF8);
        let from = if is_utf8 { "J\u{f5}geva@b\u{fc}cher.test" } else { "ann@sender.test" };
        let name = if is_utf8 { "d\u{f6}rte" } else { "client" };
        let to = format!("{name}{number}@example.test");
        let (port, tls_port) = (daemon.smtp.port().to_string(), smtps.port().to_string());
        let output = send(&Job { port, tls_port, dir: dir.path(), from, to: &to }, more);
        let raw = only_mail(&daemon, &to).await;
        let is_whole = raw.contains("\r\n\r\n.\r\n..two\r\nGrüße\r\n");
        assert!(is_whole && raw.starts_with(&format!("Return-Path: <{from}>\r\n")), "{raw}{output:?}");
        assert!(raw.contains(&format!(" with {with}")), "{with:?}: {raw}{output:?}");
    }
    daemon.stop();
}

/// The daemon with the certificate that is in `dir`, which takes any credentials.
pub(super) fn serve_tls(dir: &Path, more: &[&str]) -> Program {
    let (certificate, key) = (dir.join("cert.pem"), dir.join("key.pem"));
    let tls = ["--tls-cert", certificate.to_str().expect("UTF-8"), "--tls-key", key.to_str().expect("UTF-8")];
    Program::serve(dir, &[&tls[..], &["--smtp-auth", "accept-any"], more].concat())
}
