//! The bound on questions to DNS about one mail.
//!
//! The checks ask their cache before each question. This one knows no answers, but once enough was asked it answers
//! everything itself, so that nothing more is asked.

use std::borrow::Borrow;
use std::hash::Hash;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use mail_auth::{DnsError, DnssecStatus, Error, RecordSet, ResolverCache, Txt};

/// How many questions were to be asked.
pub(super) struct Lookups {
    asked: AtomicUsize,
    most: usize,
}

impl Lookups {
    /// At most so many.
    pub(super) const fn new(most: usize) -> Self {
        Self { asked: AtomicUsize::new(0), most }
    }

    /// Whether more was to be asked than may be.
    pub(super) fn is_exceeded(&self) -> bool {
        self.asked.load(Ordering::Relaxed) > self.most
    }
}

/// The answer in place of one too many.
pub(super) trait Instead {
    fn instead() -> Self;
}

impl Instead for Txt {
    fn instead() -> Self {
        Self::Error(Error::Dns(DnsError::Resolver("too many questions".to_owned())))
    }
}

impl<T> Instead for RecordSet<T> {
    fn instead() -> Self {
        Self { rrset: Arc::from([]), dnssec_status: DnssecStatus::Indeterminate }
    }
}

impl<K, V: Instead> ResolverCache<K, V> for Lookups {
    fn get<Q: Hash + Eq + ?Sized>(&self, _: &Q) -> Option<V>
    where
        K: Borrow<Q>,
    {
        (self.asked.fetch_add(1, Ordering::Relaxed) >= self.most).then(V::instead)
    }

    fn remove<Q: Hash + Eq + ?Sized>(&self, _: &Q) -> Option<V>
    where
        K: Borrow<Q>,
    {
        None
    }

    fn insert(&self, _: K, _: V, _: Instant) {}
}
