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

    /// Takes over the tokens in a file of an earlier version, if it is there, and removes it durably.
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
        let secret = fresh();
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
fn fresh() -> Secret {
    let random: [u8; 32] = rand::random();
    Secret::new(format!("{PREFIX}{}", URL_SAFE_NO_PAD.encode(random))).expect("a text that is not empty")
}

/// The hash of a token. A fast hash is enough, since nobody can try 2^256 tokens.
fn hash(token: &str) -> [u8; 32] {
    Sha256::digest(token).into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{Config, Revision};
    use crate::store::disk::Directory;
    use crate::store::{EmbeddedStore, StoreOptions};

    const NOW: Timestamp = Timestamp::from_millis(1_000);

    /// A new token with the scope `read`.
    async fn create(
        tokens: &Arc<Tokens>,
        name: &str,
        expires_at: Option<Timestamp>,
        now: Timestamp,
    ) -> Result<(TokenRecord, Secret), TokenError> {
        tokens.create(name.parse().expect("name"), Scope::Read, expires_at, now).await
    }

    fn store(dir: &Path) -> Arc<dyn Storage> {
        let directory = Directory::lock(dir).expect("nobody else has it");
        let options = StoreOptions::for_a_moment(&Config::of_revision(Revision::Two, dir.into()));
        Arc::new(EmbeddedStore::open_on(Arc::new(directory), &options).expect("open"))
    }

    /// The tokens of a directory that nobody else has open.
    async fn open(dir: &Path) -> Arc<Tokens> {
        Tokens::open(store(dir), dir, None, NOW).await.expect("open")
    }

    /// Ends the store, so that another process may open it.
    async fn close(tokens: Arc<Tokens>) {
        tokens.store.close().await.expect("close");
    }

    fn file_with(dir: &Path, records: &[TokenRecord]) -> std::path::PathBuf {
        let path = dir.join("tokens");
        let text = serde_json::json!({ "format": 1, "tokens": records });
        fs::write(&path, text.to_string()).expect("write");
        path
    }

    fn record(name: &str, expires_at: Option<Timestamp>, token: &str) -> TokenRecord {
        let (name, scope) = (name.parse().expect("name"), Scope::Read);
        TokenRecord { name, scope, created_at: NOW, expires_at, hash: hash(token) }
    }

    #[tokio::test]
    async fn a_token_outlives_the_process_and_only_its_hash_is_on_the_disk() {
        let dir = tempfile::tempdir().expect("directory");
        let tokens = open(dir.path()).await;
        let (_, secret) = create(&tokens, "ci-of-us", None, NOW).await.expect("created");
        let token = secret.expose();
        assert!(token.starts_with("tm_") && token.len() == 46, "{token}");
        assert_eq!(tokens.scope(token, NOW), Some(Scope::Read));
        assert_eq!(tokens.scope(&token[..45], NOW), None);
        assert_eq!(tokens.scope("", NOW), None);

        let octets = std::fs::read(dir.path().join("store/registry.redb")).expect("octets");
        let has = |text: &str| octets.windows(text.len()).any(|window| window == text.as_bytes());
        assert!(has("ci-of-us") && !has(&token[3..]));
        let before = tokens.list();
        close(tokens).await;
        let again = open(dir.path()).await;
        assert_eq!(again.scope(token, NOW), Some(Scope::Read));
        assert_eq!(again.list(), before);
    }

    #[tokio::test]
    async fn a_revoked_token_is_invalid_at_once_and_after_a_restart() {
        let dir = tempfile::tempdir().expect("directory");
        let tokens = open(dir.path()).await;
        let (first, first_secret) = create(&tokens, "first", None, NOW).await.expect("created");
        let (second, second_secret) = create(&tokens, "second", None, NOW).await.expect("created");
        assert_eq!(tokens.revoke("first".to_owned()).await.expect("revoked"), Some(first.clone()));
        assert_eq!(tokens.revoke("first".to_owned()).await.expect("revoked"), None);
        assert_eq!(tokens.scope(first_secret.expose(), NOW), None);
        assert_eq!(tokens.scope(second_secret.expose(), NOW), Some(Scope::Read));
        tokens.revoke(second.id()).await.expect("revoked").expect("by its id");
        close(tokens).await;
        assert!(open(dir.path()).await.list().is_empty());
    }

    #[tokio::test]
    async fn names_are_unique_among_valid_tokens_and_the_number_is_limited() {
        let dir = tempfile::tempdir().expect("directory");
        let tokens = open(dir.path()).await;
        let expires_at = Some(NOW.plus(std::time::Duration::from_secs(1)));
        let (_, short) = create(&tokens, "ci", expires_at, NOW).await.expect("created");
        assert!(matches!(create(&tokens, "ci", None, NOW).await, Err(TokenError::NameTaken)));
        let later = NOW.plus(std::time::Duration::from_secs(1));
        assert_eq!(tokens.scope(short.expose(), NOW), Some(Scope::Read));
        assert_eq!(tokens.scope(short.expose(), later), None);
        create(&tokens, "ci", None, later).await.expect("the expired one is replaced");
        let record = tokens.list()[0].clone();
        let named = |number| TokenRecord { name: format!("t{number}").parse().expect("name"), ..record.clone() };
        let many: Vec<TokenRecord> = (0..TOKENS_MAX).map(named).collect();
        assert!(tokens.store.replace_tokens(&tokens.list(), &many).await.expect("written"));
        assert!(matches!(create(&tokens, "one-more", None, NOW).await, Err(TokenError::TooMany)));
    }

    #[tokio::test]
    async fn a_token_that_is_not_on_disk_is_not_valid() {
        let dir = tempfile::tempdir().expect("directory");
        let tokens = open(dir.path()).await;
        let (created, _) = create(&tokens, "ci", None, NOW).await.expect("created");
        tokens.store.close().await.expect("close");
        assert!(matches!(create(&tokens, "late", None, NOW).await, Err(TokenError::Store(_))));
        assert!(matches!(tokens.revoke("ci".into()).await, Err(TokenError::Store(_))));
        assert_eq!(*tokens.list(), [created]);
    }

    #[tokio::test]
    async fn tokens_in_a_file_are_taken_over_once() {
        let dir = tempfile::tempdir().expect("directory");
        let of_file = [record("of-file", None, "a"), record("too", None, "b")];
        let path = file_with(dir.path(), &of_file);
        let tokens = open(dir.path()).await;
        assert_eq!(*tokens.list(), of_file);
        close(tokens).await;
        assert!(!path.exists());
        let tokens = open(dir.path()).await;
        assert_eq!(*tokens.list(), of_file);
        tokens.revoke("too".to_owned()).await.expect("revoked").expect("it was there");
        close(tokens).await;
        let tokens = open(dir.path()).await;
        assert_eq!(*tokens.list(), [record("of-file", None, "a")]);
        assert_eq!(tokens.scope("a", NOW), Some(Scope::Read));
    }

    #[test]
    fn a_file_of_another_kind_or_version_is_refused() {
        for text in ["", "{}", r#"{"format":2,"tokens":[]}"#, r#"{"format":1,"tokens":[{"name":"a b"}]}"#] {
            assert!(read(text.as_bytes()).is_err(), "{text}");
        }
        assert_eq!(read(br#"{"format":1,"tokens":[]}"#), Ok(Vec::new()));
    }

    #[test]
    fn tokens_are_distinct_and_hashed_by_sha_256() {
        assert_ne!(fresh(), fresh());
        // FIPS 180-2, appendix B.1.
        assert_eq!(hash("abc")[..8], [0xba, 0x78, 0x16, 0xbf, 0x8f, 0x01, 0xcf, 0xea]);
    }

    #[tokio::test]
    async fn a_valid_token_wins_when_store_and_file_have_its_name() {
        let dir = tempfile::tempdir().expect("directory");
        let of_store = [record("first", Some(NOW), "s1"), record("second", None, "s2"), record("third", None, "s3")];
        let earlier = store(dir.path());
        assert!(earlier.replace_tokens(&[], &of_store).await.expect("written"));
        earlier.close().await.expect("close");
        drop(earlier);
        let of_file = [record("first", None, "f1"), record("second", Some(NOW), "f2"), record("third", None, "f3")];
        file_with(dir.path(), &of_file);
        let tokens = open(dir.path()).await;
        let [_, second, third] = of_store;
        let [first, ..] = of_file;
        assert_eq!(*tokens.list(), [second, third, first]);
    }

    #[tokio::test]
    async fn the_token_of_the_environment_has_the_scope_admin() {
        let dir = tempfile::tempdir().expect("directory");
        let admin = Secret::new("a".repeat(32));
        let tokens = Tokens::open(store(dir.path()), dir.path(), admin.as_ref(), NOW).await.expect("open");
        assert_eq!(tokens.scope(&"a".repeat(32), NOW), Some(Scope::Admin));
        assert_eq!(tokens.scope(&"a".repeat(31), NOW), None);
    }
}
