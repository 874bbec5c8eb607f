//! Tokens by a part of their id.

use super::{Part, Search};
use crate::client::TokenEntry;
use crate::error::Error;

/// The whole id of one of these tokens.
pub(in crate::cli) fn token(tokens: &[TokenEntry], part: &Part) -> Result<String, Error> {
    let mut search = Search::of(part);
    for token in tokens {
        search.look_at(&token.id, || format!("{}  {}", token.id, token.name));
    }
    search.id("the tokens").map_err(|error| error.hint("`tempmail token list` shows the tokens"))
}
