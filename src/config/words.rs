//! Values of settings that are one of a few words.

use super::value::ValueError;
use super::{AccessLog, CompatApi, LogFormat, Revision, SmtpAuth};
use crate::model::{Subaddressing, WhenFull};

pub(super) fn when_full(text: &str) -> Result<WhenFull, ValueError> {
    match text {
        "reject" => Ok(WhenFull::Reject),
        "drop-oldest" => Ok(WhenFull::DropOldest),
        _ => Err(ValueError::malformed(text, "reject or drop-oldest")),
    }
}

pub(super) fn revision(text: &str) -> Result<Revision, ValueError> {
    match text {
        "1" => Ok(Revision::One),
        "2" => Ok(Revision::Two),
        _ => Err(ValueError::malformed(text, "1 or 2")),
    }
}

pub(super) fn subaddressing(text: &str) -> Result<Subaddressing, ValueError> {
    match text {
        "keep" => Ok(Subaddressing::Keep),
        "strip" => Ok(Subaddressing::Strip),
        _ => Err(ValueError::malformed(text, "keep or strip")),
    }
}

pub(super) fn smtp_auth(text: &str) -> Result<SmtpAuth, ValueError> {
    match text {
        "off" => Ok(SmtpAuth::Off),
        "accept-any" => Ok(SmtpAuth::AcceptAny),
        _ => Err(ValueError::malformed(text, "off or accept-any")),
    }
}

pub(super) fn access_log(text: &str) -> Result<AccessLog, ValueError> {
    match text {
        "off" => Ok(AccessLog::Off),
        "masked" => Ok(AccessLog::Masked),
        "full" => Ok(AccessLog::Full),
        _ => Err(ValueError::malformed(text, "off, masked or full")),
    }
}

pub(super) fn compat_api(text: &str) -> Result<CompatApi, ValueError> {
    match text {
        "off" => Ok(CompatApi::Off),
        "mailpit" => Ok(CompatApi::Mailpit),
        "mailhog" => Err(ValueError::invalid(
            text,
            &"there is no interface of MailHog any more, and Mailpit's lists, searches and deletes the same mail",
            "off or mailpit",
        )),
        _ => Err(ValueError::malformed(text, "off or mailpit")),
    }
}

pub(super) fn on_or_off(text: &str) -> Result<bool, ValueError> {
    match text {
        "on" => Ok(true),
        "off" => Ok(false),
        _ => Err(ValueError::malformed(text, "on or off")),
    }
}

pub(super) fn log_format(text: &str) -> Result<LogFormat, ValueError> {
    match text {
        "text" => Ok(LogFormat::Text),
        "json" => Ok(LogFormat::Json),
        _ => Err(ValueError::malformed(text, "text or json")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_whole_words_are_values() {
        assert_eq!((when_full("reject"), when_full("drop-oldest")), (Ok(WhenFull::Reject), Ok(WhenFull::DropOldest)));
        assert!(when_full("drop").is_err());
        assert_eq!(compat_api("mailpit"), Ok(CompatApi::Mailpit));
        let gone = compat_api("mailhog").expect_err("gone").to_string();
        assert!(gone.starts_with("'mailhog': ") && gone.contains("Mailpit's"), "{gone}");
    }
}
