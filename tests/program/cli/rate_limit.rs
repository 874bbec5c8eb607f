//! Commands of a client that has used up its rate limit.
//! Promise: it outlives the code below it.

use crate::support::program::{Program, remote};

const INBOX: [&str; 2] = ["inbox", "hello@example.test"];

#[test]
fn beyond_the_rate_limit_a_command_ends_with_7_and_says_when_to_try_again() {
    let daemon = Program::fresh(&["--rate-limit", "3"]);
    let outcomes: Vec<_> = (0..4).map(|_| remote(daemon.http, &INBOX)).collect();
    assert_eq!(outcomes[0].code, Some(0), "{outcomes:?}");
    assert_eq!(outcomes[3].code, Some(7), "{outcomes:?}");
    assert!(outcomes[3].stderr.contains("try again in "), "{outcomes:?}");
    for _ in 0..4 {
        assert_eq!(daemon.tempmail(&INBOX).code, Some(0), "the control socket has no limit");
    }
}
