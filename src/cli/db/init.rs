//! `tempmail db init`

use serde_json::json;

use super::super::{Context, output};
use super::sources;
use crate::client;
use crate::error::{Error, Exit};

/// Make the store in a cluster of Apache Cassandra, which `serve` needs there
///
/// The setting `store` names the cluster and the keyspace. The keyspace and its tables are made as far as they are not
/// there, and mail in them stays. In a data directory `tempmail serve` makes the store itself.
#[derive(clap::Args, Debug)]
#[command(after_help = "\
Examples:
  tempmail db init --config /etc/tempmail/config.toml --replication 5
  TEMPMAIL_STORE=cassandra://10.0.0.1/tempmail tempmail db init")]
pub(in crate::cli) struct Init {
    /// Copies of each row in a keyspace that is made, 1 to 100
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..=100))]
    replication: u32,
}

impl Init {
    pub(in crate::cli) async fn run(self, cx: &Context) -> Result<Exit, Error> {
        let made = client::init_cluster(&sources(cx)?, self.replication).await?;
        cx.print(output::document(cx.style, &json!(made), cx.now()))?;
        cx.hint(if made.is_new {
            "the keyspace was made"
        } else {
            "the keyspace was there, and keeps its replication"
        });
        Ok(Exit::Ok)
    }
}
