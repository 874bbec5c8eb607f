//! An MX check, with as few queries as the decision needs.

use std::sync::Arc;
use std::time::Duration;

use futures_util::future::{join, join_all};

use super::Resolver;
use super::mx::{Answers, Failure, MxAnswer, MxVerdict, Ours, classify, hosts_to_resolve};
use crate::model::DomainName;

/// How long a whole check may take, however many queries it makes.
const DEADLINE: Duration = Duration::from_secs(15);

/// Finds out where the mail of a domain goes. No answer is cached.
#[derive(Clone)]
pub struct MxCheck {
    resolver: Arc<dyn Resolver>,
    ours: Arc<Ours>,
}

impl MxCheck {
    /// A check against our own names and addresses.
    pub fn new(resolver: Arc<dyn Resolver>, ours: Ours) -> Self {
        Self { resolver, ours: Arc::new(ours) }
    }

    /// The names that a domain's MX record may point to.
    pub fn hosts(&self) -> &[DomainName] {
        &self.ours.hosts
    }

    /// Finds out where the mail of `domain` goes. A check of more than 15 s ends as [`MxVerdict::NoAnswer`].
    pub async fn ask(&self, domain: &DomainName) -> MxVerdict {
        let answers = tokio::time::timeout(DEADLINE, self.answers(domain)).await;
        match answers {
            Ok(answers) => classify(domain, &self.ours, &answers),
            Err(_) => MxVerdict::NoAnswer(Failure::TimedOut),
        }
    }

    async fn answers(&self, domain: &DomainName) -> Answers {
        let mx: MxAnswer = self.resolver.mx(domain).await;
        let names = hosts_to_resolve(&mx, &self.ours);
        if names.is_empty() {
            return Answers { mx, hosts: Vec::new(), ours: Vec::new() };
        }
        let theirs = join_all(names.iter().map(|name| self.resolver.addresses(name)));
        let ours = join_all(self.ours.hosts.iter().map(|host| self.resolver.addresses(host.as_str())));
        let (theirs, ours) = join(theirs, ours).await;
        Answers { mx, hosts: names.into_iter().zip(theirs).collect(), ours }
    }
}
