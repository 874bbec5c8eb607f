//! Two looks at what changes by itself.

/// What `look` sees, and what `ask` answers while that stays as it is: the next segment may be being made meanwhile.
pub(crate) async fn while_steady<S: PartialEq, A>(look: impl AsyncFn() -> S, ask: impl AsyncFn() -> A) -> (S, A) {
    loop {
        let (before, answer) = (look().await, ask().await);
        if look().await == before {
            return (before, answer);
        }
    }
}
