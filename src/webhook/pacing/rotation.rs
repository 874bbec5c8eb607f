//! What is queued for one endpoint: webhooks that share it take turns.

use std::collections::{HashMap, VecDeque};

use crate::model::WebhookId;

/// Queues of items, one per webhook, from which items are taken in rotation.
#[derive(Debug)]
pub(super) struct Rotation<T> {
    /// Never an empty one.
    queues: HashMap<WebhookId, VecDeque<T>>,
    /// The webhooks of these, each once, in the order of their turns.
    order: VecDeque<WebhookId>,
    len: usize,
}

impl<T> Default for Rotation<T> {
    fn default() -> Self {
        Self { queues: HashMap::new(), order: VecDeque::new(), len: 0 }
    }
}

impl<T> Rotation<T> {
    /// Queues items, at least one.
    pub(super) fn extend(&mut self, webhook: WebhookId, items: impl IntoIterator<Item = T>) {
        let order = &mut self.order;
        let queue = self.queues.entry(webhook).or_insert_with(|| {
            order.push_back(webhook);
            VecDeque::new()
        });
        let before = queue.len();
        queue.extend(items);
        self.len += queue.len() - before;
    }

    /// The oldest item of the webhook whose turn it is.
    pub(super) fn pop(&mut self) -> Option<T> {
        let webhook = self.order.pop_front()?;
        let queue = self.queues.get_mut(&webhook)?;
        let item = queue.pop_front()?;
        if queue.is_empty() {
            self.queues.remove(&webhook);
        } else {
            self.order.push_back(webhook);
        }
        self.len -= 1;
        Some(item)
    }

    pub(super) fn len(&self) -> usize {
        self.len
    }

    pub(super) fn is_empty(&self) -> bool {
        self.len == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn webhooks_take_turns_and_each_keeps_its_order() {
        let [a, b] = [1, 2].map(|octet| WebhookId::from_octets([octet; 16]));
        let mut rotation = Rotation::default();
        rotation.extend(a, (0..4).map(|item| ("a", item)));
        assert_eq!(rotation.pop(), Some(("a", 0)));
        rotation.extend(b, (0..2).map(|item| ("b", item)));
        assert_eq!(rotation.len(), 5);
        let rest: Vec<_> = std::iter::from_fn(|| rotation.pop()).collect();
        assert_eq!(rest, [("a", 1), ("b", 0), ("a", 2), ("b", 1), ("a", 3)]);
        assert!(rotation.is_empty() && rotation.queues.is_empty() && rotation.order.is_empty());
        rotation.extend(b, [("b", 9)]);
        assert_eq!((rotation.pop(), rotation.pop()), (Some(("b", 9)), None));
    }
}
