//! Who follows a private inbox learns that its time is over.
//! Promise: it outlives the code below it.

use crate::support::program::Program;

#[test]
fn what_follows_a_private_inbox_ends_with_its_time() {
    let daemon = Program::fresh(&[]);
    let to = daemon.tempmail(&["new", "--private", "--for", "8s"]).ok().stdout.trim_end().to_owned();
    let following = [daemon.beside(&["wait", &to, "--timeout", "10m"]), daemon.beside(&["watch", &to])];
    for command in following {
        let ended = command.end();
        assert_eq!((ended.code, ended.stdout.as_str()), (Some(3), ""), "{ended:?}");
        assert!(ended.stderr.contains(&format!("error: the private inbox {to} has ended\n")), "{ended:?}");
    }
}
