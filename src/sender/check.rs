//! The checks of one mail, by the crate mail-auth, and what their answers mean.

use std::net::IpAddr;

use mail_auth::common::crypto::Algorithm;
use mail_auth::common::headers::Header;
use mail_auth::dkim::{Canonicalization, DkimError, Signature};
use mail_auth::dmarc::verify::DmarcParameters;
use mail_auth::spf::verify::SpfParameters;
use mail_auth::{
    AuthenticatedMessage, DkimOutput, DkimResult, DmarcOutput, DmarcResult, Error, MessageAuthenticator, Parameters,
    SpfOutput, SpfResult,
};

use super::lookups::Lookups;
use super::results::{Authentication, Checked, NO_SENDER, Outcome, Policy};
use crate::mime::Message;
use crate::model::DomainName;

/// The most questions to DNS about one mail. A domain may ask for ten with SPF, and DMARC asks up to eight for a name.
const LOOKUPS_MAX: usize = 20;

/// What is checked: a message, and what its envelope says.
pub(super) struct Claim<'a> {
    pub(super) raw: &'a [u8],
    /// The client's address; `None` if it says nothing of the sender.
    pub(super) client: Option<IpAddr>,
    pub(super) helo: &'a str,
    pub(super) reverse_path: &'a str,
    /// Our own name.
    pub(super) hostname: &'a str,
}

/// Checks a mail whose header section is [bounded](super::header).
pub(super) async fn check(dns: &MessageAuthenticator, claim: &Claim<'_>) -> Authentication {
    let Some(message) = AuthenticatedMessage::parse(claim.raw) else {
        return Authentication::unchecked(Outcome::None, NO_SENDER);
    };
    let lookups = Lookups::new(LOOKUPS_MAX);
    let signatures: Vec<DkimOutput<'_>> = dns.verify_dkim(counted(&message, &lookups)).await;
    // The order is that of the answers: those that can't be read come first.
    let unreadable = message.errors.iter().filter(|field| matches!(field.header, Error::Dkim(_)));
    let mut unreadable = unreadable.map(|field: &Header<'_, Error>| tag_d(field.value));
    let dkim = signatures
        .iter()
        .map(|found| match found.signature() {
            Some(signature) => Checked::new(of_signature(found, signature, message.raw_body()), signature.d.as_str()),
            None => Checked::new(of_dkim(found.result()), &unreadable.next().unwrap_or_default()),
        })
        .collect();
    let (from_path, spf) = spf(dns, claim, &lookups).await;
    let valid: Vec<DkimOutput<'_>> =
        signatures.into_iter().filter(|found| found.signature().is_some_and(is_wellformed)).collect();
    let dmarc = DmarcParameters::new(&message, &valid, &from_path, &spf);
    let dmarc = dns.verify_dmarc(counted(dmarc, &lookups)).await;
    let arc = dns.verify_arc(counted(&message, &lookups)).await;
    let last = arc.sets().last().map_or("", |set| &set.seal.header.d);
    let arc = Checked::new(of_dkim(arc.result()), last);
    let spf = Checked::new(of_spf(spf.result()), spf.domain());
    let found = Authentication::of(spf, dkim, of_dmarc(&dmarc), arc);
    // What is proven must be what is shown.
    if shown_domain(claim.raw).is_some_and(|shown| shown.as_str() == found.dmarc.checked.domain) {
        found
    } else {
        Authentication::unchecked(Outcome::PermError, NO_SENDER)
    }
}

/// The domain of the one address in the field From, as readers of the mail are shown it.
fn shown_domain(raw: &[u8]) -> Option<DomainName> {
    let message = Message::without_body(raw);
    let [from] = &*message.head().from else { return None };
    from.address.rsplit_once('@')?.1.parse().ok()
}

/// The parameters of a check whose questions are counted.
fn counted<P>(params: P, lookups: &Lookups) -> Parameters<'_, P, Lookups, Lookups, Lookups, Lookups, Lookups> {
    Parameters {
        params,
        cache_txt: Some(lookups),
        cache_mx: Some(lookups),
        cache_ptr: Some(lookups),
        cache_ipv4: Some(lookups),
        cache_ipv6: Some(lookups),
    }
}

/// What SPF says, and the domain that it is about: that of the reverse-path, or of the greeting for the null sender.
async fn spf(dns: &MessageAuthenticator, claim: &Claim<'_>, lookups: &Lookups) -> (String, SpfOutput) {
    let Claim { client, helo, reverse_path, hostname, .. } = *claim;
    let domain = reverse_path.rsplit_once('@').map_or(helo, |(_, domain)| domain).to_ascii_lowercase();
    let none = SpfOutput::new(domain.clone()).with_result(SpfResult::None);
    let Some(client) = client else { return (domain, none) };
    let params = if reverse_path.is_empty() {
        SpfParameters::verify_ehlo(client, helo, hostname)
    } else {
        SpfParameters::verify_mail_from(client, helo, hostname, reverse_path)
    };
    let before = lookups.is_exceeded();
    let found = dns.verify_spf(counted(params, lookups)).await;
    // What was not asked any more counts as not found, and that may be any result.
    let result = match (before, lookups.is_exceeded()) {
        (true, _) => SpfResult::TempError,
        (false, true) => SpfResult::PermError,
        (false, false) => found.result(),
    };
    (domain.clone(), SpfOutput::new(domain).with_result(result))
}

const fn of_spf(result: SpfResult) -> Outcome {
    match result {
        SpfResult::Pass => Outcome::Pass,
        SpfResult::Fail => Outcome::Fail,
        SpfResult::SoftFail => Outcome::SoftFail,
        SpfResult::Neutral => Outcome::Neutral,
        SpfResult::TempError => Outcome::TempError,
        SpfResult::PermError => Outcome::PermError,
        SpfResult::None => Outcome::None,
    }
}

const fn of_dkim(result: &DkimResult) -> Outcome {
    match result {
        DkimResult::Pass => Outcome::Pass,
        DkimResult::Neutral(_) => Outcome::Neutral,
        DkimResult::Fail(_) => Outcome::Fail,
        DkimResult::PermError(_) => Outcome::PermError,
        DkimResult::TempError(_) => Outcome::TempError,
        DkimResult::None => Outcome::None,
    }
}

/// The result of a signature that could be read.
fn of_signature(found: &DkimOutput<'_>, signature: &Signature, body: &[u8]) -> Outcome {
    match found.result() {
        _ if !is_wellformed(signature) => Outcome::PermError,
        // The crate's relaxed form of a body differs from that of RFC 6376 where lines of blanks end it, and of line ends that
        // are not CRLF. Then another hash refutes nothing.
        DkimResult::Neutral(Error::Dkim(DkimError::FailedBodyHashMatch))
            if signature.cb == Canonicalization::Simple || !is_doubtful(body) =>
        {
            Outcome::Fail
        }
        result => of_dkim(result),
    }
}

/// Whether a signature covers the field From (RFC 6376 section 6.1.1), and is not by SHA-1 (RFC 8301). The crate does not ask.
fn is_wellformed(signature: &Signature) -> bool {
    signature.a != Algorithm::RsaSha1 && signature.h.iter().any(|name| name.trim().eq_ignore_ascii_case("from"))
}

/// Whether the end of a body has lines of blanks, or a line end is not CRLF.
fn is_doubtful(body: &[u8]) -> bool {
    let end = body.trim_ascii_end().len();
    let has_blanks = body[end..].iter().any(|octet| matches!(octet, b' ' | b'\t'));
    let is_half = |at: usize| match body[at] {
        b'\n' => at == 0 || body[at - 1] != b'\r',
        b'\r' => body.get(at + 1) != Some(&b'\n'),
        _ => false,
    };
    has_blanks || (0..body.len()).any(is_half)
}

fn of_dmarc(found: &DmarcOutput) -> Policy {
    let result = match found.result() {
        DmarcResult::Pass => Outcome::Pass,
        DmarcResult::Fail(_) => Outcome::Fail,
        DmarcResult::TempError(_) => Outcome::TempError,
        DmarcResult::PermError(_) => Outcome::PermError,
        DmarcResult::None => Outcome::None,
    };
    let results = [("spf", found.spf_result()), ("dkim", found.dkim_result())];
    let aligned = results.iter().filter(|(_, result)| **result == DmarcResult::Pass).map(|(name, _)| *name).collect();
    Policy { checked: Checked::new(result, found.domain()), aligned }
}

/// The domain of a signature that can't be read otherwise; empty if there is none.
fn tag_d(field: &[u8]) -> String {
    let text = String::from_utf8_lossy(field);
    let mut tags = text.split(';').filter_map(|tag| tag.split_once('='));
    tags.find(|(name, _)| name.trim() == "d").map_or_else(String::new, |(_, value)| value.trim().to_ascii_lowercase())
}
