//! What is examined: the settings of this machine and the daemon on it.

use std::io::ErrorKind;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::time::Duration;

use tokio::time::timeout;

use super::finding::Finding;
use crate::client::{Client, ClientError, Destination, Domain, Status, running};
use crate::config::{self, Config, Sources};

/// How long the daemon may take for one answer.
const ANSWER_WITHIN: Duration = Duration::from_secs(5);

/// The service on this machine.
pub(super) struct Subject {
    /// What the daemon runs with, else what it would start with.
    pub(super) config: Config,
    /// The daemon, if one answers.
    pub(super) daemon: Option<Running>,
}

/// A daemon that answers.
pub(super) struct Running {
    pub(super) status: Status,
    pub(super) domains: Vec<Domain>,
}

impl Subject {
    /// Looks at the settings and asks the daemon. Without settings there is nothing to examine but what was found.
    pub(super) async fn find(sources: &Sources) -> (Option<Self>, Vec<Finding>) {
        let mut findings = Vec::new();
        let loaded = match config::load(sources) {
            Ok(loaded) => {
                findings.push(match &loaded.file {
                    Some(file) => Finding::ok("settings", format!("{} is valid", file.display())),
                    None => Finding::ok("settings", "there is no configuration file, so the defaults hold"),
                });
                let warnings = loaded.warnings.iter().map(ToString::to_string);
                findings.extend(warnings.map(|text| Finding::warning("settings", text, "unset it or mend it")));
                Some(loaded.config)
            }
            Err(error) => {
                let advice = "mend it; `tempmail config check FILE` checks a file";
                let problems = error.problems.iter().map(ToString::to_string);
                findings.extend(problems.map(|text| Finding::failure("settings", text, advice)));
                None
            }
        };
        let transport = running(&Destination::Local(sources.clone()));
        let Some(client) = transport.ok().flatten().map(Client::new) else {
            return without_daemon(loaded, findings);
        };
        let told =
            timeout(ANSWER_WITHIN, async { tokio::join!(client.status(), client.config(), client.admin_domains()) });
        match told.await {
            Ok((Ok(status), settings, domains)) => {
                let config = settings.ok().map(|settings| Config::from_in_effect(&settings)).or(loaded);
                let daemon = Running { status, domains: domains.unwrap_or_default() };
                (config.map(|config| Self { config, daemon: Some(daemon) }), findings)
            }
            Ok((Err(error), ..)) => {
                findings.push(silent(&error));
                (loaded.map(|config| Self { config, daemon: None }), findings)
            }
            Err(_) => {
                findings.push(silent(&ClientError::TimedOut { server: client.transport().shown().to_owned() }));
                (loaded.map(|config| Self { config, daemon: None }), findings)
            }
        }
    }
}

/// What is examined where no daemon answers.
fn without_daemon(loaded: Option<Config>, mut findings: Vec<Finding>) -> (Option<Subject>, Vec<Finding>) {
    let Some(mut config) = loaded else { return (None, findings) };
    config.data_dir = std::path::absolute(&config.data_dir).unwrap_or(config.data_dir);
    let shown = config.data_dir.display();
    if is_of_another(&config.data_dir) {
        let found = format!("{shown} belongs to another user, so whether a daemon runs on it is not known");
        findings.push(Finding::failure("data-dir", found, "run `tempmail doctor` as the user of the service"));
        return (None, findings);
    }
    findings.push(Finding::warning(
        "daemon",
        format!("none runs on {shown}"),
        "start `tempmail serve` to receive mail",
    ));
    (Some(Subject { config, daemon: None }), findings)
}

/// Whether a directory that is there is another user's.
fn is_of_another(dir: &Path) -> bool {
    match std::fs::metadata(dir) {
        Ok(metadata) => metadata.uid() != rustix::process::geteuid().as_raw(),
        Err(error) => error.kind() == ErrorKind::PermissionDenied,
    }
}

fn silent(error: &ClientError) -> Finding {
    Finding::failure("daemon", error.to_string(), "look at its log, and restart it if it hangs")
}
