//! Two looks at a state that changes by itself.

/// Repeats `ask` until `look` returns the same before and after it. The store makes the next segment at any time.
pub(crate) async fn while_steady<S: PartialEq, A>(look: impl AsyncFn() -> S, ask: impl AsyncFn() -> A) -> (S, A) {
    loop {
        let (before, answer) = (look().await, ask().await);
        if look().await == before {
            return (before, answer);
        }
    }
}
