//! The words that people look at around codes and links, by language.
//!
//! A phrase stands for whole words. `verif*` stands for every word that begins so, and `*code` for every word that ends
//! so. Scripts without blanks between words, such as Chinese, have no such bounds: there a phrase is found anywhere, and
//! so it is in Korean and Arabic, whose particles are part of the word. At each place the longest phrase counts.

mod arabic;
mod chinese;
mod dutch;
mod english;
mod french;
mod german;
mod italian;
mod japanese;
mod korean;
mod more;
mod polish;
mod portuguese;
mod russian;
mod spanish;
mod turkish;

/// What a phrase says about a code or a link near it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sense {
    /// A code, of whatever kind.
    Code,
    /// A code that is certainly a one-time code.
    OneTime,
    /// A number or name that is no code: of an order, a customer, a place.
    Other,
    /// Something to save money with.
    Promotion,
    Verify,
    SignIn,
    Reset,
    Invite,
    Unsubscribe,
    /// What is said about secrets: how long they are valid, and to keep them.
    Caution,
    /// What is said to somebody else: what to do for whom did not ask for this.
    Denial,
    /// What to do with a code.
    Enter,
    /// What is written on a link that says nothing about its target.
    Press,
    /// Nothing. Such a phrase hides a shorter one in it.
    Nothing,
}

/// The phrases of one language.
pub(super) struct Words {
    code: &'static str,
    one_time: &'static str,
    other: &'static str,
    promotion: &'static str,
    verify: &'static str,
    sign_in: &'static str,
    reset: &'static str,
    invite: &'static str,
    unsubscribe: &'static str,
    caution: &'static str,
    denial: &'static str,
    enter: &'static str,
    press: &'static str,
}

pub(super) const LANGUAGES: [&Words; 15] = [
    &english::ENGLISH,
    &german::GERMAN,
    &spanish::SPANISH,
    &french::FRENCH,
    &portuguese::PORTUGUESE,
    &italian::ITALIAN,
    &dutch::DUTCH,
    &polish::POLISH,
    &turkish::TURKISH,
    &russian::RUSSIAN,
    &japanese::JAPANESE,
    &chinese::CHINESE,
    &korean::KOREAN,
    &arabic::ARABIC,
    &more::MORE,
];

impl Words {
    /// The phrases, separated by commas.
    pub(super) fn by_sense(&self) -> [(Sense, &'static str); 13] {
        [
            (Sense::Code, self.code),
            (Sense::OneTime, self.one_time),
            (Sense::Other, self.other),
            (Sense::Promotion, self.promotion),
            (Sense::Verify, self.verify),
            (Sense::SignIn, self.sign_in),
            (Sense::Reset, self.reset),
            (Sense::Invite, self.invite),
            (Sense::Unsubscribe, self.unsubscribe),
            (Sense::Caution, self.caution),
            (Sense::Denial, self.denial),
            (Sense::Enter, self.enter),
            (Sense::Press, self.press),
        ]
    }
}
