//! Answers of a store whose disk failed, and whether they were true.

use std::collections::BTreeSet;
use std::sync::Arc;

use rand::RngExt;
use tempmail::model::EmailId;
use tempmail::store::{EmbeddedStore, Store, StoreError};

use super::{NOW, TO, list};
use crate::support::mail::delivery;

/// The promises of a store while its disk failed.
#[derive(Default)]
pub(super) struct Answers {
    pub(super) stored: BTreeSet<EmailId>,
    /// Answered with a definite error, or deleted.
    gone: BTreeSet<EmailId>,
}

impl Answers {
    pub(super) async fn check(&self, store: &EmbeddedStore, when: &str) {
        let part = list(store, TO, NOW).await;
        let listed: BTreeSet<EmailId> = part.emails.iter().map(|email| email.id).collect();
        assert_eq!(self.stored.difference(&listed).count(), 0, "{when}: acknowledged mail is lost");
        assert_eq!(self.gone.intersection(&listed).count(), 0, "{when}: mail came back");
        for email in &part.emails {
            let raw = store.load(email).await.expect("load").expect("a listed email").raw;
            assert!(raw.iter().all(|octet| *octet == email.id.octets()[15]), "{when}: other octets");
        }
    }

    pub(super) async fn receive_some(&mut self, store: &Arc<EmbeddedStore>, random: &mut impl RngExt) {
        let mut running = Vec::new();
        for _ in 0..random.random_range(1..4) {
            let mut sent = delivery(&[TO], "", NOW);
            let id = sent.envelope.recipients[0].id;
            sent.raw = vec![id.octets()[15]; random.random_range(1..40_000)].into();
            let store = Arc::clone(store);
            running.push((id, tokio::spawn(async move { store.receive(sent).await })));
        }
        for (id, receive) in running {
            match receive.await.expect("no panic") {
                Ok(()) => drop(self.stored.insert(id)),
                Err(StoreError::OutcomeUnknown) => {}
                // The sender got 451 or 452, and tries again.
                Err(StoreError::Full | StoreError::Failed(_)) => drop(self.gone.insert(id)),
                Err(other) => panic!("{other}"),
            }
        }
    }

    pub(super) async fn delete_one(&mut self, store: &EmbeddedStore) {
        let Some(id) = self.stored.pop_first() else { return };
        match store.delete(id, NOW).await {
            Ok(was_there) => {
                assert!(was_there);
                self.gone.insert(id);
            }
            Err(StoreError::OutcomeUnknown) => {}
            Err(_) => drop(self.stored.insert(id)),
        }
    }
}
