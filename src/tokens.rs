//! The tokens that the administrator gives out to remote callers.
//!
//! The store keeps them, and memory has a copy for the checks of requests. Both have only hashes. Where several processes share
//! the store, each reads it anew when another one has changed it, and asks it about a token that it does not know.

use std::error::Error;
use std::fmt;
use std::fs::{self, File};
use std::io;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use arc_swap::ArcSwap;
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde::Deserialize;
use sha2::{Digest, Sha256};
use subtle::ConstantTimeEq;
use tokio::time::{Instant, sleep};

use crate::model::{Scope, Secret, Timestamp, TokenName, TokenRecord};
use crate::store::{OpenError, Storage, StoreError};

/// What every token begins with, so that people and scanners for leaked secrets recognize it.
const PREFIX: &str = "tm_";
/// The file in the data directory in which earlier versions kept tokens, as JSON.
const OLD_FILE: &str = "tokens";
/// The format of that file.
const OLD_FORMAT: u32 = 1;
/// The most tokens at a time, including expired ones.
const TOKENS_MAX: usize = 1_000;
/// The most unknown tokens in a second about which a shared store is asked, since strangers can present any.
const LOOK_UPS_MAX: u32 = 10;
/// How often a change is tried while others change tokens at the same moment.
const TRIES_MAX: u32 = 10;
/// How soon tokens are read again that could not be read.
const READ_AGAIN_AFTER: Duration = Duration::from_millis(500);

/// Every token that is valid or has been.
pub struct Tokens {
    store: Arc<dyn Storage>,
    records: ArcSwap<Vec<TokenRecord>>,
    /// Held during a change of store and memory.
    changes: tokio::sync::Mutex<()>,
    /// When the current second began, and how often the store was asked since.
    asked: Mutex<(Instant, u32)>,
    /// The token of the environment.
    admin: Option<[u8; 32]>,
}

/// The content of [`OLD_FILE`].
#[derive(Deserialize)]
struct OldFile {
    format: u32,
    tokens: Vec<TokenRecord>,
}

/// Why a token was not created or revoked.
#[derive(Debug, thiserror::Error)]
pub enum TokenError {
    /// Another token has the name.
    #[error("there is a token with this name")]
    NameTaken,
    /// The limit of tokens is reached.
    #[error("the limit of {TOKENS_MAX} tokens is reached")]
    TooMany,
    /// The change could not be written.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Without hashes: the administrator may have chosen a token that can be guessed.
impl fmt::Debug for Tokens {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Tokens").finish_non_exhaustive()
    }
}

impl Tokens {
    /// The tokens of a store, and `admin`, a further token with the scope `admin`.
    ///
    /// The store takes over the tokens of a file in the data directory, which is removed. A token that is valid at `now` wins
    /// against one of the same name that has expired.
    pub async fn open(
        store: Arc<dyn Storage>,
        data_dir: &Path,
        admin: Option<&Secret>,
        now: Timestamp,
    ) -> Result<Arc<Self>, OpenError> {
        let path = data_dir.join(OLD_FILE);
        let failed = |reason: String| OpenError::Io { path: path.clone(), reason };
        let records = store.tokens().await.map_err(|error| failed(error.to_string()))?;
        let opened = Self {
            store,
            records: ArcSwap::from_pointee(records),
            changes: tokio::sync::Mutex::default(),
            asked: Mutex::new((Instant::now(), 0)),
            admin: admin.map(|token| hash(token.expose())),
        };
        opened.take_over(&path, now).await.map_err(|error| failed(error.to_string()))?;
        Ok(Arc::new(opened))
    }

    /// Takes over the tokens in a file of an earlier version, if it is there, and removes it durably. The log names those that
    /// are lost, since other ones that are valid have their names.
    async fn take_over(&self, path: &Path, now: Timestamp) -> Result<(), Box<dyn Error + Send + Sync>> {
        let text = match fs::read(path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
            text => text?,
        };
        let found = read(&text)?;
        let add = |records: &mut Vec<TokenRecord>| {
            for record in &found {
                if is_free(records, &record.name, now) {
                    records.push(record.clone());
                }
            }
            records.sort_by_key(|record| record.created_at);
            Ok(())
        };
        self.change_alone(add).await?;
        let is_lost = |record: &&TokenRecord| {
            !record.is_expired(now) && self.records.load().iter().all(|kept| kept.hash != record.hash)
        };
        let lost: Vec<String> = found.iter().filter(is_lost).map(|record| record.name.to_string()).collect();
        if !lost.is_empty() {
            let names = lost.join(", ");
            tracing::warn!(names, "tokens of the old file are not valid any more: other tokens have their names");
        }
        fs::remove_file(path)?;
        Ok(File::open(path.parent().unwrap_or(path))?.sync_all()?)
    }

    /// Creates a token at `now`, which is valid until `expires_at`, if that is given. The token is durable and valid on
    /// return. Its text cannot be shown again.
    ///
    /// A token of the same name that has expired is replaced.
    pub async fn create(
        self: &Arc<Self>,
        name: TokenName,
        scope: Scope,
        expires_at: Option<Timestamp>,
        now: Timestamp,
    ) -> Result<(TokenRecord, Secret), TokenError> {
        let secret = fresh(PREFIX);
        let record = TokenRecord { name, scope, created_at: now, expires_at, hash: hash(secret.expose()) };
        let new = record.clone();
        let add = move |records: &mut Vec<TokenRecord>| {
            if !is_free(records, &new.name, now) {
                return Err(TokenError::NameTaken);
            }
            if records.len() >= TOKENS_MAX {
                return Err(TokenError::TooMany);
            }
            records.push(new.clone());
            Ok(())
        };
        self.change(add).await?;
        Ok((record, secret))
    }

    /// Every token in the order of creation, including expired ones.
    pub fn list(&self) -> Arc<Vec<TokenRecord>> {
        self.records.load_full()
    }

    /// Revokes the token with this name, or else the one with this id. `None` if there is no such token.
    ///
    /// The token is invalid on return, also after a crash.
    pub async fn revoke(self: &Arc<Self>, which: String) -> Result<Option<TokenRecord>, TokenError> {
        self.change(move |records| {
            let by_name = records.iter().position(|record| record.name.to_string() == which);
            let found = by_name.or_else(|| records.iter().position(|record| record.id() == which));
            Ok(found.map(|at| records.remove(at)))
        })
        .await
    }

    /// The scope of a presented token that is valid at `now`. A shared store is asked about an unknown one.
    pub async fn look_up(&self, presented: &str, now: Timestamp) -> Option<Scope> {
        let found = self.scope(presented, now);
        if found.is_some() || !self.store.is_shared() || !self.is_question_due() {
            return found;
        }
        self.reload().await;
        self.scope(presented, now)
    }

    fn is_question_due(&self) -> bool {
        let mut asked = self.asked.lock().unwrap_or_else(PoisonError::into_inner);
        if asked.0.elapsed() >= Duration::from_secs(1) {
            *asked = (Instant::now(), 0);
        }
        asked.1 += 1;
        asked.1 <= LOOK_UPS_MAX
    }

    /// Reads the tokens anew whenever another process that shares the store has changed them. Ends at once if none does.
    pub async fn follow(&self) {
        let mut changed = self.store.changed();
        while changed.changed().await.is_ok() {
            while !self.reload().await {
                sleep(READ_AGAIN_AFTER).await;
            }
        }
    }

    /// Reads all tokens of the store; `false` if it failed.
    async fn reload(&self) -> bool {
        let _alone = self.changes.lock().await;
        match self.store.tokens().await {
            Ok(records) => self.records.store(Arc::new(records)),
            Err(error) => {
                tracing::warn!(%error, "the tokens could not be read again; the copy in memory stays in use");
                return false;
            }
        }
        true
    }

    /// The scope of a presented token that is known and valid at `now`.
    ///
    /// The time that this takes does not depend on how much of the token is right.
    fn scope(&self, presented: &str, now: Timestamp) -> Option<Scope> {
        let presented = hash(presented);
        let is_presented = |hash: &[u8; 32]| bool::from(presented.ct_eq(hash));
        let mut found = None;
        for record in self.records.load().iter() {
            if is_presented(&record.hash) && !record.is_expired(now) {
                found = Some(record.scope);
            }
        }
        if self.admin.as_ref().is_some_and(is_presented) { Some(Scope::Admin) } else { found }
    }

    /// Changes the store and then memory. The change runs to its end even if the caller is dropped.
    async fn change<T: Send + 'static>(
        self: &Arc<Self>,
        change: impl Fn(&mut Vec<TokenRecord>) -> Result<T, TokenError> + Send + Sync + 'static,
    ) -> Result<T, TokenError> {
        let tokens = Arc::clone(self);
        let changed = tokio::spawn(async move {
            let changed = tokens.change_alone(change).await;
            if matches!(changed, Err(TokenError::Store(StoreError::OutcomeUnknown))) {
                tokens.reload().await;
            }
            changed
        });
        changed.await.map_err(|error| StoreError::Failed(error.to_string()))?
    }

    /// Makes the change anew if another process changes tokens at the same moment.
    async fn change_alone<T>(
        &self,
        change: impl Fn(&mut Vec<TokenRecord>) -> Result<T, TokenError>,
    ) -> Result<T, TokenError> {
        let _alone = self.changes.lock().await;
        for _ in 0..TRIES_MAX {
            let before = self.store.tokens().await?;
            let mut records = before.clone();
            let result = change(&mut records)?;
            if records == before || self.store.replace_tokens(&before, &records).await? {
                self.records.store(Arc::new(records));
                return Ok(result);
            }
        }
        Err(StoreError::Failed("others change tokens all the time".into()).into())
    }
}

/// Whether a new token may have a name. One of that name that has expired is removed.
fn is_free(records: &mut Vec<TokenRecord>, name: &TokenName, now: Timestamp) -> bool {
    records.retain(|record| record.name != *name || !record.is_expired(now));
    records.iter().all(|record| record.name != *name)
}

/// The tokens in a file of an earlier version.
fn read(text: &[u8]) -> Result<Vec<TokenRecord>, String> {
    match serde_json::from_slice(text) {
        Ok(OldFile { format: OLD_FORMAT, tokens }) => Ok(tokens),
        Ok(OldFile { format, .. }) => Err(format!("it has format {format}, and this version reads {OLD_FORMAT}")),
        Err(error) => Err(format!("it is not a file of tokens: {error}")),
    }
}

/// A new token: the prefix, and 256 random bits in base64url.
pub(crate) fn fresh(prefix: &str) -> Secret {
    let random: [u8; 32] = rand::random();
    Secret::new(format!("{prefix}{}", URL_SAFE_NO_PAD.encode(random))).expect("a text that is not empty")
}

/// The hash of a token. A fast hash is enough, since nobody can try 2^256 tokens.
pub(crate) fn hash(token: &str) -> [u8; 32] {
    Sha256::digest(token).into()
}

#[cfg(test)]
mod tests;
