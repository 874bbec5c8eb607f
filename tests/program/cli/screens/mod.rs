//! Help, lists and errors as users see them.
//! Promise: it outlives the code below it.

mod help;
mod lists;

use super::exits;
use crate::support::transcript::none_is_left_over;

/// Where the snapshots are.
pub(super) const SNAPSHOTS: &str = "tests/program/cli/screens/snapshots";

#[test]
fn each_snapshot_belongs_to_a_test() {
    none_is_left_over(SNAPSHOTS, help::names().chain(lists::names()).chain(exits::names()));
}
