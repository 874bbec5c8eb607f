//! Applications under test, with the mail settings of their production, whose domains are below one wildcard.
//! Promise: it outlives the code below it.

use std::process::Command;

use serde_json::Value;

use super::table::{MAIL, serve_tls};
use crate::support::certificates::Pair;
use crate::support::programs;

/// Host, port, name, password and TLS, as in the settings of a web framework.
const APPLICATION: &str = "
import smtplib, ssl
from email.message import EmailMessage
EMAIL_HOST, EMAIL_PORT = 'localhost', {PORT}
EMAIL_HOST_USER, EMAIL_HOST_PASSWORD, EMAIL_USE_TLS = 'app@production.example', 'Tr0ub4dor&3', True
mail = EmailMessage()
mail['From'], mail['To'], mail['Subject'] = 'shop@production.example', 'app@anything.sub.example', 'Your order'
mail.set_content('Grüße')
connection = smtplib.SMTP(EMAIL_HOST, EMAIL_PORT, timeout=30)
if EMAIL_USE_TLS:
    connection.starttls(context=ssl.create_default_context(cafile={CERTIFICATE}))
if EMAIL_HOST_USER and EMAIL_HOST_PASSWORD:
    connection.login(EMAIL_HOST_USER, EMAIL_HOST_PASSWORD)
connection.send_message(mail)
connection.quit()
";

#[test]
#[ignore = "needs Python and msmtp"]
fn an_application_with_its_own_settings_finds_its_mail_under_any_subdomain() {
    let dir = tempfile::tempdir().expect("directory");
    let files = Pair::fresh().write(dir.path());
    let daemon = serve_tls(dir.path(), &["--domain", "*.sub.example"]);
    let port = daemon.smtp.port();
    let script = APPLICATION.replace("{PORT}", &port.to_string());
    let script = script.replace("{CERTIFICATE}", &format!("{:?}", files.certificate));
    programs::run(Command::new(programs::find("python3")).arg("-").env("PYTHONUTF8", "1"), &script);
    let listed = daemon.tempmail(&["inbox", "app@anything.sub.example", "--json"]);
    let page: Value = serde_json::from_str(&listed.stdout).expect("JSON");
    assert_eq!((&page["total"], &page["emails"][0]["subject"]), (&1.into(), &"Your order".into()), "{listed:?}");
    let read = daemon.tempmail(&["read", "app@anything.sub.example", "--latest"]);
    assert!(read.stdout.contains("Grüße"), "{read:?}");

    let config = dir.path().join("msmtprc");
    let trusted = files.certificate.display();
    let settings = format!(
        "account default\nhost localhost\nport {port}\nfrom shop@production.example\nauth on\nuser app\n\
             password secret\ntls on\ntls_starttls on\ntls_trust_file {trusted}\n"
    );
    std::fs::write(&config, settings).expect("write");
    std::fs::set_permissions(&config, std::os::unix::fs::PermissionsExt::from_mode(0o600)).expect("mode");
    let mut command = Command::new(programs::find("msmtp"));
    programs::run(command.arg("-C").arg(config).arg("app@two.labels.sub.example"), MAIL);
    let listed = daemon.tempmail(&["inbox", "app@two.labels.sub.example", "-o", "id"]);
    assert_eq!(listed.stdout.lines().count(), 1, "{listed:?}");
    daemon.stop();
}
