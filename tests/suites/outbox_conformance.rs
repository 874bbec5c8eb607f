//! The suite of webhooks and events that every store must pass. Its promises are in the files by their subjects.

use std::sync::Arc;

use futures_util::future::BoxFuture;
use tempmail::store::{EmbeddedStore, OutboxLimits, Storage, StoreOptions};

use super::options;
use crate::support::test_disk::TestDisk;

/// Opens an empty store.
pub type Open = fn(StoreOptions) -> BoxFuture<'static, Arc<dyn Storage>>;

/// Options with limits of the outbox.
pub fn within(outbox: OutboxLimits) -> StoreOptions {
    StoreOptions { outbox, ..options() }
}

/// An embedded store in memory.
pub fn embedded(options: &StoreOptions) -> Arc<dyn Storage> {
    Arc::new(EmbeddedStore::open_on(Arc::new(TestDisk::default()), options).expect("open"))
}

pub fn in_memory(options: StoreOptions) -> BoxFuture<'static, Arc<dyn Storage>> {
    Box::pin(async move { embedded(&options) })
}

/// The tests that run the whole suite on the stores that `$open` makes, with another attribute if there is one.
macro_rules! outbox_conformance {
    ($open:path $(, #[$attribute:meta])?) => {
        crate::suites::outbox_conformance::outbox_conformance! { [$(#[$attribute])?] $open;
            outbox: {
                a_webhook_is_registered_once_and_within_the_limits
                registering_a_disabled_webhook_again_enables_it
                an_event_that_was_never_sent_is_no_failure_of_the_receiver
                each_message_gives_each_webhook_of_its_recipients_one_event
                an_event_outlives_its_email_and_then_frees_the_octets
                an_attempt_moves_its_event_and_is_in_the_log
                what_disables_a_webhook_ends_its_events_and_a_replay_begins_them_again
                a_replay_of_nothing_enables_nothing
                a_full_outbox_drops_the_oldest_and_says_so
                webhooks_go_with_their_domain_and_when_no_mail_comes
                attempts_recorded_together_count_as_one_after_the_other
                what_a_replay_delivered_has_not_failed
                the_log_is_bounded_in_number_and_age
            }
            outbox_bounds: {
                an_event_that_has_ended_is_not_given_out_although_its_email_is_there
                a_message_larger_than_the_outbox_of_a_webhook_drops_only_itself
                a_message_for_many_webhooks_keeps_within_the_bound_of_all
                failed_events_are_those_whose_last_attempt_failed
                webhooks_of_an_earlier_time_do_not_go_to_the_next_owner_of_the_domain
                a_removed_domain_takes_its_webhooks_with_it
                without_a_dispatcher_no_event_begins
                each_full_webhook_drops_its_oldest_however_many_a_message_is_for
                the_octets_of_a_webhook_have_a_bound_and_its_oldest_events_make_the_room
                a_dropped_event_is_in_the_log_at_the_time_of_the_drop
                events_whose_mail_has_expired_end_when_they_are_swept
            }
            outbox_shares: {
                an_unproven_webhook_holds_twenty_events_or_a_megabyte_and_a_single_one_of_any_size
                each_registrant_has_a_limit_and_the_oldest_unproven_webhook_is_evicted
                all_webhooks_are_listed_in_pages_by_origin_and_domain
            }
            replays: {
                a_replay_into_a_full_outbox_drops_nothing_and_says_so
                a_replay_takes_the_oldest_mail_first_and_another_one_the_rest
                the_octets_of_a_webhook_and_of_all_bound_a_replay
                a_replay_that_finds_no_room_leaves_a_webhook_disabled
                a_replay_takes_what_the_log_shows
            }
            disabled: {
                five_days_of_nothing_but_failures_disable_a_webhook
                of_the_time_between_two_failures_two_days_count_at_most
                a_clock_that_comes_back_makes_no_days_of_failures
                a_success_among_attempts_that_were_decided_on_together_keeps_a_webhook_active
            }
            due_events: {
                so_many_as_are_wanted_are_read
                events_come_in_the_order_of_time_whether_they_were_tried_or_not
                an_event_that_was_not_tried_is_due_also_where_the_clock_was_put_back
                a_backoff_is_recorded_though_its_event_was_dropped_meanwhile
                an_event_is_pending_until_it_ends
                an_event_that_was_read_ends_with_its_webhook_and_when_it_is_dropped
            }
        }
    };
    ($attributes:tt $open:path; $($subject:ident: { $($promise:ident)* })*) => {
        $($(
            crate::suites::promise! { $attributes $promise: crate::suites::$subject::$promise($open) }
        )*)*
    };
}
pub(crate) use outbox_conformance;

/// The tests of the shares of the outbox, likewise.
macro_rules! outbox_shares {
    ($open:path $(, #[$attribute:meta])?) => {
        crate::suites::outbox_conformance::outbox_conformance! { [$(#[$attribute])?] $open;
            outbox_bounds: {
                a_full_outbox_drops_the_new_event_and_no_other
            }
            outbox_shares: {
                webhooks_of_strangers_in_many_networks_cost_a_proven_one_nothing
                the_webhooks_of_one_registrant_have_a_sixteenth_of_the_outbox
                the_webhooks_of_one_network_have_a_quarter_of_the_outbox
                an_event_without_room_is_in_the_log_and_takes_none_away
                the_administrators_webhooks_have_all_of_the_outbox
            }
        }
    };
}
pub(crate) use outbox_shares;
