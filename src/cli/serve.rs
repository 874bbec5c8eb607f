//! `tempmail serve`: the daemon.

use super::Context;
use crate::config::ServeArgs;
use crate::error::{Error, Exit};

/// Run the service: receive mail over SMTP and answer over HTTP
///
/// Works without any argument: SMTP on port 2525 and HTTP on port 8080 of the loopback addresses, for the domain
/// example.test. Settings come from flags, then the environment (TEMPMAIL_*), then the configuration file, then the
/// revision's defaults. SIGTERM and SIGINT stop it; a second one stops it at once.
#[derive(clap::Args, Debug)]
#[command(after_help = "\
Examples:
  tempmail serve
  tempmail serve --data-dir /var/lib/tempmail --config /etc/tempmail/config.toml
  TEMPMAIL_DATA_DIR=/tmp/mail tempmail serve")]
pub(super) struct Serve {
    #[command(flatten)]
    settings: ServeArgs,
}

impl Serve {
    // SEAM: the daemon goes here: `config::load(&sources)`, logging by `cx.globals.verbose`, then `daemon::run`.
    #[expect(clippy::unused_async, reason = "the daemon is async")]
    pub(super) async fn run(self, cx: &Context) -> Result<Exit, Error> {
        if cx.globals.server.is_some() {
            return Err(Error::usage("serve runs the service on this machine; --server names one elsewhere"));
        }
        let sources = cx.globals.sources(self.settings, &cx.env);
        let loaded = crate::config::load(&sources)?;
        let cause = format!("this build has no daemon to run on {}", loaded.config.data_dir.display());
        Err(Error::new(Exit::Failure, cause))
    }
}
