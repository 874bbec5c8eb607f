//! The body of a list: a JSON object, written in pieces as the client takes them.

use std::io;
use std::sync::Arc;
use std::vec;

use axum::body::{Body, Bytes};
use futures_util::stream;
use tokio::task::coop::consume_budget;

use super::rows::Entry;
use crate::email::Kept;
use crate::http::{Api, Caller, Problem, Room};
use crate::model::Listed;
use crate::store::StoreError;

/// Messages of this many octets together are read for one piece. A larger one is read alone, so that a list of large
/// messages never sits in memory as a whole.
const PIECE_OCTETS: u64 = 256 * 1024;
/// A longer message is parsed by the reader: it would keep other requests waiting.
const QUICK_OCTETS_MAX: u64 = 32 * 1024;
/// Room for the end of the body, in octets.
const FOOT_OCTETS: usize = 160;

/// How many of the first rows are read at once, at least one; `None` without rows. `octets` is what a row counts.
pub(super) fn batch<T>(rows: &[T], octets: impl Fn(&T) -> u64) -> Option<usize> {
    let mut sum = 0;
    let fits = |row: &&T| {
        sum += octets(row);
        sum <= PIECE_OCTETS
    };
    let fitting = rows.iter().take_while(fits).count();
    (!rows.is_empty()).then_some(fitting.max(1))
}

/// An entry, and what is kept of what it shows.
type Known<E> = (E, Option<Arc<Kept>>);

/// The rest of a body that is written.
struct Rest<E, F> {
    api: Arc<Api>,
    caller: Caller,
    unread: vec::IntoIter<Known<E>>,
    /// How many entries were written.
    written: usize,
    /// Makes the end of the body; `None` once it is written.
    foot: Option<F>,
}

/// The body with these entries in the list `name`. `foot` makes the other members, a JSON object, of the number of entries
/// that were written.
///
/// Its first piece is written before this returns. An Email that is removed meanwhile is left out. A damaged one is left
/// out too and logged, so that the others stay readable. If the store fails before the first octet, the answer is an error.
/// After that the body breaks off, and clients see that it is incomplete.
pub(in crate::http) async fn body<E: Entry>(
    api: Arc<Api>,
    caller: Caller,
    name: &str,
    entries: Vec<E>,
    foot: impl FnOnce(usize) -> String + Send + 'static,
) -> Result<Body, Problem> {
    let unread = entries.into_iter().map(|entry| known(&api, &caller, entry)).collect::<Vec<_>>().into_iter();
    let mut rest = Rest { api, caller, unread, written: 0, foot: Some(foot) };
    let first = rest.next(format!("{{\"{name}\":[").into_bytes()).await?;
    if rest.foot.is_none() {
        return Ok(first.into());
    }
    Ok(Body::from_stream(stream::try_unfold((Some(first), rest), |(first, mut rest)| async {
        let piece = match first {
            Some(first) => first,
            None if rest.foot.is_none() => return Ok(None),
            None => rest.next(Vec::new()).await.map_err(|problem| {
                tracing::error!(code = problem.code().row().1, "a list ended early");
                io::Error::other("the list ended early")
            })?,
        };
        Ok::<_, io::Error>(Some((piece, (None, rest))))
    })))
}

/// Appends one entry to `json`. `None` if it cannot be shown.
pub(super) async fn one<E: Entry>(
    api: &Arc<Api>,
    caller: &Caller,
    entry: E,
    json: Vec<u8>,
) -> Result<Option<(Vec<u8>, Room)>, Problem> {
    let Piece { json, written, room, .. } = append(api, caller, json, vec![known(api, caller, entry)], 0).await?;
    Ok((written > 0).then_some((json, room)))
}

fn known<E: Entry>(api: &Api, caller: &Caller, entry: E) -> Known<E> {
    let known = entry.known(api, caller);
    (entry, known)
}

impl<E: Entry, F: FnOnce(usize) -> String> Rest<E, F> {
    /// The next piece, which begins with `json`.
    async fn next(&mut self, mut json: Vec<u8>) -> Result<Bytes, Problem> {
        while let Some(entries) = self.batch() {
            let before = self.written;
            let piece = append(&self.api, &self.caller, json, entries, before).await?;
            (json, self.written) = (piece.json, piece.written);
            if self.unread.as_slice().is_empty() {
                self.end(&mut json);
            }
            // Nothing may be left of what was read, and an empty piece would end the body.
            if self.written > before || self.foot.is_none() {
                return Ok(piece.room.hold(json));
            }
        }
        self.end(&mut json);
        Ok(json.into())
    }

    /// The next entries that are read at once.
    fn batch(&mut self) -> Option<Vec<Known<E>>> {
        let octets = |(entry, known): &Known<E>| {
            let whole = known.as_ref().filter(|kept| kept.range().is_empty());
            whole.map_or(entry.listed().size_octets, |kept| kept.octets() as u64)
        };
        let length = batch(self.unread.as_slice(), octets)?;
        Some(self.unread.by_ref().take(length).collect())
    }

    fn end(&mut self, json: &mut Vec<u8>) {
        let Some(foot) = self.foot.take() else { return };
        json.extend_from_slice(b"],");
        json.extend_from_slice(foot(self.written).trim_start_matches('{').as_bytes());
    }
}

/// A part of a list that is being written.
struct Piece {
    json: Vec<u8>,
    /// How many entries the list has.
    written: usize,
    /// The room of the whole JSON.
    room: Room,
    /// The octets of a message that were read last.
    octets: Vec<u8>,
}

impl Piece {
    /// Adds an entry as `write` appends it, who gets the octets that were read last. If that is `false`, it can't be shown
    /// and is left out.
    fn add(&mut self, write: impl FnOnce(&mut Vec<u8>, &[u8]) -> bool) -> bool {
        let start = self.json.len();
        if self.written > 0 {
            self.json.push(b',');
        }
        let is_shown = write(&mut self.json, &self.octets);
        if is_shown {
            self.written += 1;
        } else {
            self.json.truncate(start);
        }
        is_shown
    }

    /// Adds an entry of which this is kept. `false` if the octets that it lacks are others by now, or not in memory.
    fn add_kept(&mut self, api: &Api, listed: &Listed, kept: &Kept) -> bool {
        let range = kept.range();
        self.octets.resize(range.len(), 0);
        if !range.is_empty() && !api.store.read_content_cached(listed, range.start, &mut self.octets) {
            // The whole message is read now, and needs the memory.
            self.octets = Vec::new();
            return false;
        }
        self.add(|json, octets| kept.write(json, octets))
    }

    /// Adds the first of these entries: as many as need neither the disk nor much time.
    async fn add_quick<E: Entry>(&mut self, api: &Api, caller: &Caller, entries: &mut vec::IntoIter<Known<E>>) {
        while let Some((entry, known)) = entries.as_mut_slice().first_mut() {
            let is_short = entry.listed().size_octets <= QUICK_OCTETS_MAX;
            if let Some(kept) = known {
                if !(is_short || kept.range().is_empty()) {
                    return;
                }
                if !self.add_kept(api, entry.listed(), kept) {
                    *known = None;
                    return;
                }
            } else {
                let Some(email) = is_short.then(|| entry.load_quick(api)).flatten() else { return };
                if caller.may_list(email.lease()) {
                    self.add(|json, _| entry.write(api, &email, json));
                }
            }
            entries.next();
            // Many small ones together take time.
            consume_budget().await;
        }
    }
}

/// Appends entries to the JSON of a list that has `written` already. A thread of the reader goes on with the first one that
/// needs the disk, or much time.
async fn append<E: Entry>(
    api: &Arc<Api>,
    caller: &Caller,
    mut json: Vec<u8>,
    entries: Vec<Known<E>>,
    written: usize,
) -> Result<Piece, Problem> {
    let octets = entries.iter().map(|(entry, known)| match known {
        Some(kept) if kept.range().is_empty() => kept.octets() as u64,
        _ => entry.room(),
    });
    let room = api.reserve(caller, octets.sum()).await?;
    json.reserve(FOOT_OCTETS + entries.iter().map(|(entry, _)| entry.json_octets()).sum::<usize>());
    let mut piece = Piece { json, written, room, octets: Vec::new() };
    let mut entries = entries.into_iter();
    piece.add_quick(api, caller, &mut entries).await;
    if entries.as_slice().is_empty() {
        return Ok(piece);
    }
    let (of_reading, caller) = (Arc::clone(api), caller.clone());
    // The reading ends even if the caller goes away, so the room belongs to it.
    let reading = async move {
        for (entry, known) in entries {
            let is_written = known.is_some_and(|kept| piece.add_kept(&of_reading, entry.listed(), &kept));
            if !is_written && let Some(email) = entry.load(&of_reading, &caller).await? {
                piece.add(|json, _| entry.write(&of_reading, &email, json));
            }
        }
        Ok::<_, StoreError>(piece)
    };
    Ok(api.reader.run(reading).await?)
}
