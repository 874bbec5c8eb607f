//! The mail that a command is about: by its id or a part of it, or the newest of an address.

use super::ids::{Id, Of, Target};
use crate::client::{Client, ClientError};
use crate::error::{Error, Exit};
use crate::model::{Address, EmailId};

/// Which mail is meant.
#[derive(clap::Args, Debug)]
pub(super) struct OneMail {
    /// The id of a mail or its end, or an address
    #[arg(value_name = "ID|ADDR")]
    what: Target,

    /// Behind an address, the id of one of its mails or the end of the id
    #[arg(value_name = "ID", conflicts_with = "latest")]
    id: Option<Id>,

    /// The newest mail of the address
    #[arg(long)]
    latest: bool,
}

impl OneMail {
    /// The mail with this id, of this address if one is given, or the newest of the address.
    pub(super) const fn new(what: Target, id: Option<Id>, latest: bool) -> Self {
        Self { what, id, latest }
    }

    /// Refuses what names no mail, or two.
    pub(super) fn check(&self) -> Result<(), Error> {
        match (&self.what, &self.id, self.latest) {
            (Target::Inbox(address), None, false) => {
                Err(Error::usage(format!("{address} is an address, and this command is about one mail"))
                    .hint("give --latest for its newest mail, or an id from `tempmail inbox`"))
            }
            (Target::Email(_), None, true) => Err(Error::usage("--latest goes with an address, not with an id")),
            (Target::Email(_), Some(_), _) => {
                Err(Error::usage("this command is about one mail, and these are two ids"))
            }
            _ => Ok(()),
        }
    }

    /// Its id.
    pub(super) async fn id(&self, client: &Client) -> Result<EmailId, Error> {
        let (address, id) = match (&self.what, &self.id) {
            (Target::Email(id), _) => (None, id),
            (Target::Inbox(address), Some(id)) => (Some(address), id),
            (Target::Inbox(address), None) => return newest(client, address).await,
        };
        Ok(EmailId::from_octets(Of::Mail(address).one(client, id).await?.into_bytes()))
    }
}

/// Why a mail of this id is not shown.
pub(super) fn refused(error: ClientError) -> Error {
    error.or_find_by("`tempmail inbox ADDR` lists what is there")
}

async fn newest(client: &Client, address: &Address) -> Result<EmailId, Error> {
    client.newest_id(address).await?.ok_or_else(|| {
        Error::new(Exit::NotFound, format!("there is no mail for {address}"))
            .hint(format!("`tempmail wait {address}` waits for one"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_and_an_address_are_distinguished() {
        assert!(matches!("0190b6a5-7c3e-7d2f-8a4b-1c5d9e0f2a3b".parse(), Ok(Target::Email(Id::Whole(_)))));
        assert!(matches!("9e0f2a3b".parse(), Ok(Target::Email(Id::Part(_)))));
        assert!(matches!("hello@example.test".parse(), Ok(Target::Inbox(_))));
        assert!("hello".parse::<Target>().is_err());
        assert!("@".parse::<Target>().is_err());
    }
}
