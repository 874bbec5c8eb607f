//! Rows and events against a model that is as simple as possible.

use std::collections::{BTreeMap, BTreeSet};

use bytes::Bytes;
use proptest::prelude::*;

use super::*;
use crate::model::{Address, Delivery, Greeting, Protocol, Recipient, Subaddressing, Verdict};
use crate::store::{NewestQuery, OutboxLimits, PageRequest};

const RETENTION: Duration = Duration::from_secs(100);

fn at(second: i64) -> Timestamp {
    Timestamp::from_millis(1000 * second)
}

fn limits() -> Limits {
    Limits { emails_max: 1_000_000, emails_per_mailbox_max: 0, outbox: OutboxLimits::default() }
}

fn mailbox(user: u8) -> Mailbox {
    format!("user{user}@d{}.test", user % 2).parse::<Address>().expect("address").mailbox(Subaddressing::Keep)
}

fn email(number: u64) -> EmailId {
    let mut octets = [0x70; 16];
    octets[8..].copy_from_slice(&number.wrapping_mul(0x9e37_79b9_7f4a_7c15).to_le_bytes());
    EmailId::from_octets(octets)
}

fn webhook(number: u8) -> WebhookId {
    WebhookId::from_octets([number; 16])
}

fn delivery(now: i64, recipients: &[(u64, u8)], octets: usize) -> Delivery {
    let recipient = |(id, user): &(u64, u8)| {
        let mailbox = mailbox(*user);
        Recipient { id: email(*id), address: mailbox.as_str().to_owned(), mailbox }
    };
    Delivery {
        envelope: Envelope {
            client: [127, 0, 0, 1].into(),
            helo: "client.test".into(),
            protocol: Protocol::plain(Greeting::Ehlo),
            reverse_path: String::new(),
            recipients: recipients.iter().map(recipient).collect(),
        },
        raw: Bytes::from(vec![b'x'; octets]),
        received_at: at(now),
        expires_at: at(now).plus(RETENTION),
    }
}

/// Webhooks of mailboxes.
#[derive(Default)]
struct Hooks(Vec<(u8, Receiver)>);

impl Webhooks for Hooks {
    fn of(&self, of: &Mailbox) -> Vec<Receiver> {
        self.0.iter().filter(|(user, _)| mailbox(*user) == *of).map(|(_, receiver)| *receiver).collect()
    }

    fn get(&self, id: WebhookId) -> Option<Receiver> {
        self.0.iter().map(|(_, receiver)| *receiver).find(|receiver| receiver.id == id)
    }
}

fn hook(user: u8, number: u8, client: Option<[u8; 4]>, is_proven: bool) -> (u8, Receiver) {
    let registrant = client.map(|address| Client::of(address.into()));
    (user, Receiver { id: webhook(number), registrant, is_proven })
}

/// A store without a journal: rows, and all facts so far with their places.
struct Store {
    mail: Mail,
    hooks: Hooks,
    facts: Vec<(Change, RecordPlace)>,
    segment: u32,
    offset: u32,
}

impl Store {
    fn new(limits: Limits, hooks: Hooks) -> Self {
        Self { mail: Mail::new([7; 16], limits), hooks, facts: Vec::new(), segment: 1, offset: 512 }
    }

    /// Decides requests as one group and applies it.
    fn group(&mut self, requests: &[Request]) -> Vec<Decided> {
        let mut pending = Pending::default();
        let decided: Vec<Decided> =
            requests.iter().map(|request| self.mail.decide(&mut pending, request, &self.hooks)).collect();
        let next = pending.next_sequence(&self.mail);
        for (request, decided) in requests.iter().zip(&decided) {
            for fact in &decided.facts {
                let content = match (request, fact) {
                    (Request::Receive { delivery, .. }, Change::Received { .. }) => delivery.raw.len(),
                    _ => 0,
                };
                let content = u32::try_from(content).expect("small");
                let place = RecordPlace { segment: self.segment, offset: self.offset, length: 100 + content, content };
                self.offset += place.length;
                self.mail.apply(fact, place, &self.hooks);
                self.facts.push((fact.clone(), place));
            }
        }
        assert_eq!(self.mail.last_sequence() + 1, next, "the sequence numbers are those that were decided");
        decided
    }

    fn replayed(&self, times: usize) -> Mail {
        let mut mail = Mail::new([7; 16], self.mail.limits);
        for (fact, place) in &self.facts {
            for _ in 0..times {
                mail.apply(fact, *place, &self.hooks);
            }
        }
        mail
    }
}

/// All that can be read, in a form that can be compared.
fn image(mail: &Mail) -> String {
    let far = Timestamp::from_millis(i64::MIN);
    let mailboxes = (0..4).map(|user| mail.list(&mailbox(user), PageRequest { offset: 0, limit: 1000 }, far));
    let query = NewestQuery { by_mailbox: false, domain: None, after: None, limit: 1000 };
    let events: Vec<_> = mail.events_after(None).collect();
    let everything = (mail.newest(&query, far), events, mail.live(None).collect::<Vec<_>>());
    let counts = (mail.stats(), mail.last_sequence());
    format!("{counts:?}{:?}{everything:?}", mailboxes.collect::<Vec<_>>())
}

#[derive(Clone, Debug)]
enum Step {
    Receive { users: BTreeSet<u8>, octets: usize, own_life: Option<i64> },
    Delete(usize),
    DeleteAll { user: u8, limit: usize },
    Record { event: usize, retry: Option<i64> },
    EndAll(u8),
    Replay(u8),
    Wait(i64),
    Roll,
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        6 => (proptest::collection::btree_set(0..4u8, 1..4), 0..50usize, proptest::option::weighted(0.2, 1..500i64))
            .prop_map(|(users, octets, own_life)| Step::Receive { users, octets, own_life }),
        2 => any::<usize>().prop_map(Step::Delete),
        1 => (0..4u8, 1..4usize).prop_map(|(user, limit)| Step::DeleteAll { user, limit }),
        3 => (any::<usize>(), proptest::option::of(1..500i64)).prop_map(|(event, retry)| Step::Record { event, retry }),
        1 => (1..4u8).prop_map(Step::EndAll),
        1 => (1..4u8).prop_map(Step::Replay),
        3 => (-30..60i64).prop_map(Step::Wait),
        1 => Just(Step::Roll),
    ]
}

/// An Email of the model.
#[derive(Clone, Debug)]
struct Known {
    id: EmailId,
    sequence: u64,
    user: u8,
    received_at: Timestamp,
    expires_at: Timestamp,
    has_own_life: bool,
}

/// The Emails as a list, which steps change as they change the rows.
struct Model {
    known: Vec<Known>,
    /// Seconds.
    now: i64,
    next_id: u64,
    next_sequence: u64,
}

impl Model {
    /// Follows a step. Returns the request of it, if it makes one.
    fn follow(&mut self, step: Step, store: &mut Store) -> Option<Request> {
        let now = at(self.now);
        match step {
            Step::Receive { users, octets, own_life } => Some(self.receive(users, octets, own_life)),
            Step::Delete(_) if self.known.is_empty() => None,
            Step::Delete(which) => {
                let which = which % self.known.len();
                let Known { id, expires_at, sequence, .. } = self.known[which];
                // What is received in the same group is nobody's to delete yet.
                if expires_at > now && sequence <= store.mail.last_sequence() {
                    self.known.remove(which);
                }
                Some(Request::Delete { id, now })
            }
            Step::DeleteAll { user, limit } => {
                let through = store.mail.last_sequence();
                let mut left = limit;
                self.known.retain(|email| {
                    let goes = email.user == user && email.sequence <= through && left > 0;
                    left -= usize::from(goes);
                    !goes
                });
                Some(Request::DeleteAll { mailbox: mailbox(user), through, now, limit })
            }
            Step::Record { event, retry } => {
                let verdict = retry.map_or(Verdict::Delivered, |later| Verdict::Retry(at(self.now + later)));
                let events: Vec<_> = store.mail.events_after(None).collect();
                let event = events.get(event.checked_rem(events.len())?)?;
                Some(Request::record(&[attempt(event, now, verdict)]))
            }
            Step::EndAll(number) => Some(Request::EndEvents { webhook: webhook(number), expired_by: None }),
            Step::Replay(number) => {
                let emails = self.known.iter().map(|email| email.id).collect();
                Some(Request::Replay { webhook: webhook(number), emails, now })
            }
            Step::Wait(seconds) => {
                self.now += seconds;
                None
            }
            Step::Roll => {
                store.segment += 1;
                None
            }
        }
    }

    fn receive(&mut self, users: BTreeSet<u8>, octets: usize, own_life: Option<i64>) -> Request {
        let recipients: Vec<(u64, u8)> = (self.next_id..).zip(users).collect();
        let mut delivery = delivery(self.now, &recipients, octets);
        if let Some(life) = own_life {
            delivery.expires_at = at(self.now + life);
        }
        let email = |((id, user), sequence): ((u64, u8), u64)| Known {
            id: email(id),
            sequence,
            user,
            received_at: at(self.now),
            expires_at: delivery.expires_at,
            has_own_life: own_life.is_some(),
        };
        self.next_id += recipients.len() as u64;
        self.known.extend(recipients.iter().copied().zip(self.next_sequence..).map(email));
        self.next_sequence += recipients.len() as u64;
        Request::Receive { delivery, has_own_life: own_life.is_some() }
    }
}

/// One more attempt at an event.
fn attempt(event: &crate::model::PendingEvent, now: Timestamp, verdict: Verdict) -> crate::model::AttemptRecord {
    crate::model::AttemptRecord {
        webhook: event.webhook,
        event: event.id,
        email: Some(event.email.id),
        sequence: event.email.sequence,
        number: event.attempts + 1,
        at: now,
        duration_millis: 1,
        status: None,
        error: None,
        response: String::new(),
        verdict,
        disables: None,
        backs_off_until: None,
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]

    #[test]
    fn rows_are_what_a_list_of_emails_would_be_and_a_replay_makes_them_again(
        steps in proptest::collection::vec(proptest::collection::vec(step(), 1..4), 1..40),
    ) {
        let hooks = vec![hook(0, 1, None, true), hook(1, 2, Some([192, 0, 2, 1]), false), hook(1, 3, None, false)];
        let mut store = Store::new(limits(), Hooks(hooks));
        let mut model = Model { known: Vec::new(), now: 1000, next_id: 1, next_sequence: 1 };
        for group in steps {
            let requests: Vec<Request> = group.into_iter().filter_map(|step| model.follow(step, &mut store)).collect();
            store.group(&requests);
            check(&store.mail, &model.known, model.now);
        }
        let Model { known, now, .. } = model;
        let mut expired_by = i64::MIN;
        prop_assert_eq!(image(&store.replayed(1)), image(&store.mail));
        prop_assert_eq!(image(&store.replayed(2)), image(&store.mail), "the same fact again changes nothing");
        // Expiry is no fact. It removes what is expired, and nothing else.
        for later in [0, 50, 100, 600] {
            expired_by = expired_by.max(now + later);
            while store.mail.expire(at(expired_by), 3).1 {}
            let left: Vec<Known> = known.iter().filter(|email| email.expires_at > at(expired_by)).cloned().collect();
            check(&store.mail, &left, expired_by);
        }
        prop_assert_eq!(store.mail.stats().emails, 0);
        prop_assert_eq!(store.mail.stats().messages, store.mail.segments_of_events());
        for number in 1..4 {
            store.mail.forget_webhook(webhook(number));
        }
        let exist: Vec<u32> = (1..=store.segment).collect();
        prop_assert_eq!(store.mail.stats().messages, 0);
        prop_assert_eq!(store.mail.removable(&exist).first().copied(), Some(1), "nothing is alive, so the oldest segment may go");
    }
}

impl Mail {
    /// The number of messages that events alone keep.
    fn segments_of_events(&self) -> u64 {
        self.events_after(None).map(|event| RecordPlace::of(&event.email)).collect::<BTreeSet<_>>().len() as u64
    }
}

/// Compares everything that a reader can ask with the model.
fn check(mail: &Mail, known: &[Known], now: i64) {
    let readable: Vec<&Known> = known.iter().filter(|email| email.expires_at > at(now)).collect();
    for user in 0..4 {
        let mut wanted: Vec<u64> =
            readable.iter().filter(|email| email.user == user).map(|email| email.sequence).collect();
        let after = mail.list_after(&mailbox(user), 0, 1000, at(now));
        assert_eq!(after.emails.iter().map(|email| email.sequence).collect::<Vec<_>>(), wanted);
        wanted.reverse();
        let page = mail.list(&mailbox(user), PageRequest { offset: 0, limit: 1000 }, at(now));
        assert_eq!(
            (page.emails.iter().map(|email| email.sequence).collect::<Vec<_>>(), page.total),
            (wanted.clone(), wanted.len() as u64)
        );
        for offset in 0..wanted.len() {
            let page = mail.list(&mailbox(user), PageRequest { offset: offset as u64, limit: 2 }, at(now));
            assert_eq!(
                page.emails.iter().map(|email| email.sequence).collect::<Vec<_>>(),
                wanted[offset..wanted.len().min(offset + 2)]
            );
        }
        if let Some(before) = wanted.first() {
            let older = mail.list_before(&mailbox(user), *before, 1000, at(now));
            assert_eq!(older.iter().map(|email| email.sequence).collect::<Vec<_>>(), wanted[1..]);
        }
    }
    for email in known {
        let found = mail.find(email.id, at(now));
        assert_eq!(
            found.as_ref().map(|found| (found.sequence, found.received_at)),
            (email.expires_at > at(now)).then_some((email.sequence, email.received_at))
        );
        assert!(email.has_own_life || email.expires_at <= email.received_at.plus(RETENTION));
    }
    // All pages of the newest give each Email once, and of mailboxes the newest one.
    for by_mailbox in [false, true] {
        let mut query = NewestQuery { by_mailbox, domain: None, after: None, limit: 2 };
        let mut found = Vec::new();
        loop {
            let page = mail.newest(&query, at(now));
            found.extend(page.emails.iter().map(|email| email.listed.sequence));
            let Some(next) = page.next else { break };
            query.after = Some(next);
        }
        found.sort_unstable();
        let mut newest: BTreeMap<u8, u64> = BTreeMap::new();
        newest.extend(readable.iter().map(|email| (email.user, email.sequence)));
        let wanted = readable.iter().filter(|email| !by_mailbox || newest[&email.user] == email.sequence);
        assert_eq!(found, wanted.map(|email| email.sequence).collect::<Vec<_>>());
    }
}

#[test]
fn a_read_of_what_came_since_a_time_begins_there() {
    let mut store = Store::new(limits(), Hooks::default());
    for number in 1..=5 {
        let delivery = delivery(10 * number, &[(number.unsigned_abs(), 3)], 1);
        store.group(&[Request::Receive { delivery, has_own_life: false }]);
    }
    let begin = |since| store.mail.begin_of(&mailbox(3), at(since));
    assert_eq!([begin(0), begin(10), begin(11), begin(50), begin(51)], [0, 0, 1, 4, 5]);
    assert_eq!(store.mail.begin_of(&mailbox(4), at(0)), 0);
    // The clock was set back.
    let delivery = delivery(20, &[(6, 3)], 1);
    store.group(&[Request::Receive { delivery, has_own_life: false }]);
    assert_eq!(store.mail.begin_of(&mailbox(3), at(15)), 0);
}
