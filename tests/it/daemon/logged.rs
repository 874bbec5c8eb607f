//! What the log of the real binary does not say, however much it is to say.

use base64::Engine;
use base64::prelude::BASE64_STANDARD;

use crate::support::binary::Binary;
use crate::support::smtp_peer::SmtpPeer;

#[tokio::test]
async fn no_line_of_the_log_names_a_recipient_a_sender_or_content() {
    let dir = tempfile::tempdir().expect("directory");
    let daemon = Binary::serve(dir.path(), &["-vv"]);
    let mut peer = SmtpPeer::greeted(daemon.smtp).await;
    peer.deliver("secretbox@example.test", "Subject: secretsubject\r\n\r\nsecretbody").await;
    peer.command("RCPT TO:<secretbox@example.test>", "503").await;
    peer.command("MAIL FROM:<secretsender@sender.test>", "250").await;
    peer.command("RCPT TO:<secretother@elsewhere.test>", "550").await;
    peer.command("QUIT", "221").await;
    let line = daemon.logged("smtp session ended");
    for (field, value) in [("messages", 1), ("recipients", 1), ("refusals", 2)] {
        assert_eq!(line[field], value, "{line}");
    }
    assert_eq!(line["reason"], "quit");
    let log = daemon.log();
    assert!(!log.contains("secret"), "{log}");
    daemon.stop();
}

#[tokio::test]
async fn no_line_of_the_log_has_credentials() {
    let dir = tempfile::tempdir().expect("directory");
    let alone = ["--limit-exempt", "none", "--max-smtp-connections-per-address", "1"];
    let args = [&["-vv", "--smtp-auth", "accept-any"], &alone[..]].concat();
    let daemon = Binary::serve_with(dir.path(), &args, |command| {
        command.env("RUST_LOG", "trace");
    });
    let [plain, user, password, no_message] =
        ["\0secretuser\0secretpassword", "secretuser", "secretpassword", "secret"]
            .map(|text| BASE64_STANDARD.encode(text));
    let too_long = "c2VjcmV0".repeat(4000);
    for dialog in [
        &[(format!("AUTH PLAIN {plain}"), "235")][..],
        &[("AUTH PLAIN".into(), "334"), (plain.clone(), "235")],
        &[("AUTH LOGIN".into(), "334"), (user.clone(), "334"), (password.clone(), "235")],
        &[(format!("AUTH LOGIN {user}"), "334"), (password.clone(), "235")],
        &[(format!("AUTH LOGIN {user}"), "334"), (format!("{password}!"), "501"), (password.clone(), "500")],
        &[(format!("AUTH PLAIN {no_message}"), "501"), ("AUTH PLAIN secret".into(), "501")],
        &[("AUTH PLAIN".into(), "334"), (too_long.clone(), "500"), (plain.clone(), "500")],
        &[("AUTH CRAM-MD5 secretuser".into(), "504"), ("PASS secretpassword".into(), "500")],
    ] {
        let mut peer = SmtpPeer::greeted_in_the_end(daemon.smtp).await;
        peer.command("EHLO client.test", "250").await;
        for (line, reply) in dialog {
            peer.command(line, reply).await;
        }
        SmtpPeer::connect(daemon.smtp).await.expect("421").await;
        peer.command("QUIT", "221").await;
    }
    // What only the most verbose levels show is there.
    daemon.logged("smtp connection refused");
    let log = daemon.log();
    for secret in ["secret", &plain, &user, &password, &no_message] {
        let line = log.lines().find(|line| line.contains(secret));
        assert_eq!(line, None, "{secret}");
    }
    daemon.stop();
}
