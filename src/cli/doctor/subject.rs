//! What is examined: the settings of this machine and the daemon on it.

use std::time::Duration;

use serde_json::Value;
use tokio::time::timeout;

use super::finding::Finding;
use crate::client::{Client, ClientError, Status};
use crate::config::{self, Config, SettingInEffect, Sources};

/// How long the daemon may take for one answer.
const ANSWER_WITHIN: Duration = Duration::from_secs(5);

/// The service on this machine.
pub(super) struct Subject {
    /// What the daemon runs with; if it does not tell, what it would start with.
    pub(super) config: Config,
    /// The daemon; `None` if it does not answer.
    pub(super) daemon: Option<Running>,
}

/// A daemon that answers.
pub(super) struct Running {
    pub(super) client: Client,
    pub(super) status: Status,
    pub(super) domains: Vec<Value>,
}

impl Subject {
    /// Looks at the settings and asks the daemon. Without settings there is nothing to examine but what was found.
    pub(super) async fn find(sources: &Sources, client: Client) -> (Option<Self>, Vec<Finding>) {
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
        let told = timeout(ANSWER_WITHIN, async {
            tokio::join!(client.status(), client.get("/api/admin/config", &[]), client.get("/api/admin/domains", &[]))
        });
        let (daemon, in_effect) = match told.await {
            Ok((Ok(status), settings, domains)) => {
                let in_effect = settings.ok().map(|settings: Vec<SettingInEffect>| Config::from_in_effect(&settings));
                (Some(Running { client, status, domains: domains.unwrap_or_default() }), in_effect)
            }
            Ok((Err(error), ..)) => {
                findings.push(silent(&error));
                (None, None)
            }
            Err(_) => {
                findings.push(silent(&ClientError::TimedOut { server: client.transport().shown().to_owned() }));
                (None, None)
            }
        };
        (in_effect.or(loaded).map(|config| Self { config, daemon }), findings)
    }
}

fn silent(error: &ClientError) -> Finding {
    Finding::failure("daemon", error.to_string(), "look at its log, and restart it if it hangs")
}
