//! Bodies of answers that are written in pieces, as the client takes them.

use std::io;

use axum::body::{Body, Bytes};
use futures_util::stream;

use super::problem::Problem;

/// The pieces of a body.
pub(super) trait Pieces: Send + 'static {
    /// The next piece, which begins with `beginning`. Only the last one may be empty.
    fn next(&mut self, beginning: Vec<u8>) -> impl Future<Output = Result<Bytes, Problem>> + Send;

    /// Whether there was the last piece.
    fn is_ended(&self) -> bool;
}

/// The body that begins with `beginning`. Its first piece is made before this returns, so that a failure can be answered.
pub(super) async fn body(mut pieces: impl Pieces, beginning: Vec<u8>) -> Result<Body, Problem> {
    let first = pieces.next(beginning).await?;
    if pieces.is_ended() {
        return Ok(first.into());
    }
    Ok(Body::from_stream(stream::try_unfold((Some(first), pieces), |(first, mut pieces)| async {
        let piece = match first {
            Some(first) => first,
            None if pieces.is_ended() => return Ok(None),
            None => pieces.next(Vec::new()).await.map_err(|problem| {
                tracing::error!(code = problem.code().row().1, "a list ended early");
                io::Error::other("the list ended early")
            })?,
        };
        Ok::<_, io::Error>(Some((piece, (None, pieces))))
    })))
}
