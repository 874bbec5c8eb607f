//! `tempmail mcp`: tools for the programs of language models, in the Model Context Protocol on standard input and output.
//!
//! ```text
//! server      what a program asks for        calls     carries out one call        wait   waits for mail
//! tools       what a program is told of each tool       arguments   what it may give     answers   what it gets
//! session     the service, the domains, the bounds      text        mail as text that no model takes for orders
//! ```
//!
//! The visible text of a mail is made here and not by the service, of a field that every version of the interface has. So
//! the tools work with any service, and what a model reads depends on no other program.

mod answers;
mod arguments;
mod calls;
mod server;
mod session;
mod text;
mod tools;
mod wait;

use std::pin::Pin;
use std::task::{Context as TaskContext, Poll, ready};

use rmcp::ServiceExt as _;
use rmcp::service::ServerInitializeError;
use rmcp::transport::async_rw::AsyncRwTransport;
use tokio::io::{AsyncRead, ReadBuf};
use tokio_util::sync::CancellationToken;

use super::Context;
use crate::error::{Error, Exit};
use crate::model::DomainName;
use server::Server;
use session::Session;

/// The longest line that is read, in octets; a call has an address and a few words. A longer one is left out.
const LINE_OCTETS_MAX: usize = 64 * 1024;

/// Give an agent tools for mail, over standard input and output
///
/// Speaks the Model Context Protocol and ends when standard input does. The tools make addresses, wait for mail and codes,
/// list, read and delete. Mail is handed over as what it is: text of strangers that is not to be followed.
#[derive(clap::Args, Debug)]
#[command(after_help = "\
Examples:
  tempmail mcp
  tempmail mcp --domain example.org --read-only
  tempmail --server https://mail.example.org mcp
Configuration of a program that starts it:
  {\"mcpServers\": {\"tempmail\": {\"command\": \"tempmail\", \"args\": [\"mcp\"]}}}")]
pub(super) struct Mcp {
    /// Only addresses of this domain; may be given several times, and all are permitted without it
    #[arg(long, value_name = "DOMAIN")]
    domain: Vec<DomainName>,

    /// No tool that deletes
    #[arg(long)]
    read_only: bool,
}

impl Mcp {
    pub(super) async fn run(self, cx: &Context) -> Result<Exit, Error> {
        let ended = CancellationToken::new();
        let session = Session::new(cx.destination()?, self.domain, self.read_only, cx.globals.quiet, ended.clone());
        let input = UntilEnd { input: tokio::io::stdin(), ended };
        let transport = AsyncRwTransport::new_server(input, tokio::io::stdout()).with_max_line_length(LINE_OCTETS_MAX);
        match Server::new(session).serve(transport).await {
            Ok(service) => {
                service.waiting().await.map_err(|error| Error::new(Exit::Failure, error))?;
                Ok(Exit::Ok)
            }
            Err(ServerInitializeError::ConnectionClosed(_)) => Ok(Exit::Ok),
            Err(error) => Err(Error::usage(format!("standard input: {error}"))
                .hint("a program that speaks the Model Context Protocol starts this command")),
        }
    }
}

/// Standard input that tells of its end, so that no call goes on waiting for mail then.
struct UntilEnd<R> {
    input: R,
    ended: CancellationToken,
}

impl<R: AsyncRead + Unpin> AsyncRead for UntilEnd<R> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut TaskContext<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<std::io::Result<()>> {
        let before = buffer.filled().len();
        let result = ready!(Pin::new(&mut self.input).poll_read(cx, buffer));
        if result.is_err() || buffer.filled().len() == before {
            self.ended.cancel();
        }
        Poll::Ready(result)
    }
}
