//! What changes do to the records of domains.

use redb::ReadableTable;

use super::IndexError;
use super::apply::Apply;
use super::rows::decode_domain;
use crate::model::DomainRecord;
use crate::store::Registration;
use crate::store::change::ChangeResult;

impl Apply<'_> {
    pub(super) fn register_domain(&mut self, record: &DomainRecord, limit: u64) -> Result<ChangeResult, IndexError> {
        let taken = match self.domains.get()?.get(record.name.as_str())? {
            None => None,
            Some(row) => Some(decode_domain(row.value())?),
        };
        let registration = match taken {
            Some(taken) => Registration::Taken(taken),
            None if redb::ReadableTableMetadata::len(self.domains.get()?)? >= limit => Registration::Full,
            None => {
                self.put_domain(record)?;
                Registration::Won
            }
        };
        Ok(ChangeResult::Registered(registration))
    }

    pub(super) fn put_domain(&mut self, record: &DomainRecord) -> Result<(), IndexError> {
        let value = postcard::to_stdvec(record).map_err(|_| IndexError::Corrupt("a domain cannot be encoded"))?;
        self.domains.get_mut()?.insert(record.name.as_str(), &value[..])?;
        Ok(())
    }
}
