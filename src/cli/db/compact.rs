//! `tempmail db compact`

use serde_json::json;

use super::super::{Context, output};
use super::{bar, files};
use crate::client::OfflineStore;
use crate::error::{Error, Exit};

/// Return the space of deleted mail to the file system
///
/// The service must be stopped. Segments in which nothing lives are removed, deleted mail is punched out, and the index
/// is made as small as its rows permit. Shows the octets before and after.
#[derive(clap::Args, Debug)]
#[command(after_help = "\
Examples:
  tempmail db compact
  tempmail db compact --json | jq .indexOctetsAfter")]
pub(in crate::cli) struct Compact {}

impl Compact {
    pub(in crate::cli) async fn run(self, cx: &Context) -> Result<Exit, Error> {
        let store =
            OfflineStore::take(&files(cx, "a cluster compacts its own files; `nodetool compact` asks for it now")?)
                .await?;
        let progress = bar(cx, "compacting");
        // How long it takes is not known before.
        progress(0, 0);
        let compacted = store.compact().await?;
        drop(progress);
        cx.print(output::document(cx.style, &json!(compacted), cx.now()))?;
        Ok(Exit::Ok)
    }
}
