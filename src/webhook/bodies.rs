//! Bodies that were rendered just now: the webhooks of one mailbox are told of the same Email one after another, and an
//! event's body says nothing about its webhook.

use std::collections::{HashMap, VecDeque};
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::body::Body;
use crate::model::EmailId;

/// Octets of the bodies that are kept. Those of the longest ago go first.
const OCTETS_MAX: usize = 4 << 20;

/// The bodies of the events that tell of Emails. The octets of a message never change, and so an entry is never wrong.
#[derive(Debug, Default)]
pub struct Bodies(Mutex<Rendered>);

#[derive(Debug, Default)]
struct Rendered {
    by_email: HashMap<EmailId, Body>,
    /// In the order in which they came.
    order: VecDeque<EmailId>,
    octets: usize,
}

impl Bodies {
    /// Those that are known, in the order of the Emails.
    pub(super) fn of(&self, emails: impl Iterator<Item = EmailId>) -> Vec<Option<Body>> {
        let rendered = self.rendered();
        emails.map(|email| rendered.by_email.get(&email).cloned()).collect()
    }

    pub(super) fn keep(&self, bodies: impl Iterator<Item = (EmailId, Body)>) {
        let mut rendered = self.rendered();
        bodies.for_each(|(email, body)| rendered.keep(email, body));
    }

    fn rendered(&self) -> MutexGuard<'_, Rendered> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Rendered {
    fn keep(&mut self, email: EmailId, body: Body) {
        let octets = body.len();
        if octets > OCTETS_MAX || self.by_email.contains_key(&email) {
            return;
        }
        while self.octets + octets > OCTETS_MAX
            && let Some(oldest) = self.order.pop_front()
        {
            self.octets -= self.by_email.remove(&oldest).map_or(0, |body| body.len());
        }
        self.octets += octets;
        self.order.push_back(email);
        self.by_email.insert(email, body);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn email(number: u8) -> EmailId {
        EmailId::from_octets([number; 16])
    }

    #[test]
    fn the_newest_bodies_are_kept_within_their_octets() {
        let bodies = Bodies::default();
        let third = Body::from(vec![b'x'; OCTETS_MAX / 3]);
        for number in 1..=4 {
            bodies.keep([(email(number), third.clone()), (email(number), third.clone())].into_iter());
        }
        let known = bodies.of((1..=5).map(email)).into_iter().map(|body| body.is_some()).collect::<Vec<_>>();
        assert_eq!(known, [false, true, true, true, false]);
        bodies.keep([(email(6), Body::from(vec![b'x'; OCTETS_MAX + 1]))].into_iter());
        bodies.keep([(email(7), Body::from(vec![b'x'; OCTETS_MAX]))].into_iter());
        let known = bodies.of((1..=7).map(email)).into_iter().map(|body| body.is_some()).collect::<Vec<_>>();
        assert_eq!(known, [false, false, false, false, false, false, true]);
        let rendered = bodies.rendered();
        assert_eq!((rendered.octets, rendered.order.len(), rendered.by_email.len()), (OCTETS_MAX, 1, 1));
    }
}
