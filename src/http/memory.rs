//! Memory for answers: a bound for all of them, and a share for each client and network.
//!
//! An answer with mail reserves room before its mail is loaded, and gives it back when its octets are written. Without room
//! it waits. Other answers exist before they have room, so they do not wait for it.

use std::sync::Arc;

use axum::body::{Body, Bytes, HttpBody, to_bytes};
use axum::response::{IntoResponse, Response};

use super::problem::{Code, Problem};
use super::{Api, Caller};
use crate::admission::{Admission, Permit, RENDERED, What, Who};

/// Answers of so many octets need no room: each connection has one at most.
const SMALL_MAX: u64 = 4096;

/// The room of one answer.
#[derive(Debug)]
pub(super) struct Room {
    octets: Permit,
    /// Given back when the answer is prepared.
    _preparation: Permit,
}

impl Api {
    /// Reserves what it takes at most to show messages of so many octets each as JSON.
    pub(super) async fn reserve_rendered(
        &self,
        caller: &Caller,
        octets: impl IntoIterator<Item = u64>,
    ) -> Result<Room, Problem> {
        self.reserve(caller, octets.into_iter().sum::<u64>().saturating_mul(RENDERED)).await
    }

    /// Reserves room for so many octets. The problem is that there was none in time.
    pub(super) async fn reserve(&self, caller: &Caller, octets: u64) -> Result<Room, Problem> {
        let (admission, who) = (&self.admission, caller.who);
        let preparation = admission.admit_soon(who, What::Preparation, 1).await.map_err(|_| busy())?;
        let octets = if octets > SMALL_MAX {
            admission.admit_soon(who, What::AnswerOctets, octets).await
        } else {
            admission.admit(who, What::AnswerOctets, 0)
        };
        Ok(Room { octets: octets.map_err(|_| busy())?, _preparation: preparation })
    }
}

impl Room {
    /// Whether there is room for so many octets.
    pub(super) fn fits(&self, octets: usize) -> bool {
        octets as u64 <= self.octets.amount().max(SMALL_MAX)
    }

    /// Octets that the client can read from now on. They keep this room until they are written or dropped, and no more of
    /// it than they need.
    pub(super) fn hold(self, octets: Vec<u8>) -> Bytes {
        // A boxed slice has no spare room at its end.
        self.hold_shared(octets.into_boxed_slice().into())
    }

    /// The same for octets that have no spare room.
    pub(super) fn hold_shared(self, octets: Bytes) -> Bytes {
        let mut room = self.octets;
        if octets.len() as u64 <= SMALL_MAX {
            return octets;
        }
        room.shrink_to(octets.len() as u64);
        room.hold(octets)
    }
}

/// An answer whose body has room until it is written, also if it was made without any. What others share, or what is a
/// part of the program, needs none.
pub(super) async fn hold(admission: &Arc<Admission>, who: Who, response: Response) -> Response {
    if response.body().size_hint().exact().is_none_or(|octets| octets <= SMALL_MAX) {
        return response;
    }
    let (parts, body) = response.into_parts();
    let Ok(octets) = to_bytes(body, usize::MAX).await else { return Problem::internal().into_response() };
    // Octets that keep room are never unique.
    if !octets.is_unique() {
        return Response::from_parts(parts, octets.into());
    }
    match admission.admit(who, What::AnswerOctets, octets.len() as u64) {
        Ok(room) => Response::from_parts(parts, Body::from(room.hold(octets))),
        Err(_) => busy().into_response(),
    }
}

fn busy() -> Problem {
    Problem::new(Code::Busy, "too many answers are on their way to slow readers; try again").with_retry_after(5)
}

#[cfg(test)]
mod tests {
    use std::net::Ipv4Addr;

    use super::*;
    use crate::config::{Config, Revision};

    #[tokio::test]
    async fn a_body_takes_room_once_and_only_if_it_was_made_for_its_answer() {
        let admission = Arc::new(Admission::new(&Config::of_revision(Revision::Two, "unused".into())));
        let who = admission.who(Ipv4Addr::new(192, 0, 2, 1).into());
        let held = admission.admit(who, What::AnswerOctets, 5_000).expect("room").hold(vec![b'x'; 5_000].into());
        let shared = Bytes::from(vec![b'x'; 5_000]);
        for (body, more) in [
            (Body::from(vec![b'x'; 4_096]), 0),
            (Body::from(vec![b'x'; 4_097]), 4_097),
            (Body::from(shared.clone()), 0),
            (Body::from("x".repeat(5_000).leak() as &'static str), 0),
            (Body::from(held), 0),
        ] {
            let before = admission.held(What::AnswerOctets);
            let answer = hold(&admission, who, Response::new(body)).await;
            assert_eq!((answer.status().as_u16(), admission.held(What::AnswerOctets) - before), (200, more));
            drop(answer);
        }
        drop(shared);
        assert_eq!(admission.held(What::AnswerOctets), 0);
        let _all = admission.admit(who, What::AnswerOctets, 128 << 20).expect("the first");
        assert_eq!(hold(&admission, who, Response::new(vec![b'x'; 4_097].into())).await.status(), 503);
    }

    /// The octets that `raw` takes while it becomes JSON.
    fn rendered(raw: &str) -> usize {
        let message = crate::mime::Message::new(raw.as_bytes());
        let texts = (message.html(), message.text(), message.headers());
        let json = serde_json::to_vec(&texts).expect("JSON").len();
        raw.len() + message.html().len() + message.text().len() + json
    }

    #[test]
    fn no_message_takes_more_room_than_is_reserved() {
        let elements =
            ["<hr>", "<li>", "<p>", "<td>", "<h1>x", "<a href=x>", "<br>", "&nGt;", "<pre>\"", "<b>", "&#1;", "<q>"];
        let patterns = (0_u8..128).map(|octet| char::from(octet).to_string()).chain(elements.map(str::to_owned));
        for pattern in patterns {
            for kind in ["text/plain", "text/html"] {
                let body = pattern.repeat(20_000 / pattern.len());
                let raw = format!("Content-Type: {kind}; charset=utf-8\r\n\r\n{body}");
                let (octets, reserved) = (rendered(&raw) as u64, raw.len() as u64 * RENDERED);
                assert!(octets <= reserved, "{octets} octets of {pattern:?} as {kind}, {reserved} are reserved");
            }
        }
    }
}
