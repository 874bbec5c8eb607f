//! The tokens that the administrator gives out to remote callers.
//!
//! They are in memory, and in the registry of the store or, beside a cluster, in a file of the data directory. All have only
//! hashes. The process that holds the data directory makes all changes, so memory and disk always agree.
//!
//! ```text
//! mod   creates, lists, revokes and checks tokens     secret   makes a token, hashes and compares     file   the file
//! ```

mod file;
mod secret;

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use arc_swap::ArcSwap;

use crate::model::{Scope, Secret, Timestamp, TokenName, TokenRecord};
use crate::store::{EmbeddedRegistry, OpenError, StoreError};

/// The most tokens at a time, including expired ones.
const TOKENS_MAX: usize = 1_000;

/// Every token that is valid or has been.
pub struct Tokens {
    /// What keeps them; `None` if the file does.
    registry: Option<Arc<EmbeddedRegistry>>,
    file: PathBuf,
    records: ArcSwap<Vec<TokenRecord>>,
    /// Held during a change of disk and memory.
    changes: Mutex<()>,
    /// The token of the environment.
    admin: Option<[u8; 32]>,
}

/// A token to create.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewToken {
    /// Its name.
    pub name: TokenName,
    /// What its bearer may do.
    pub scope: Scope,
    /// When it expires; `None` for never.
    pub expires_at: Option<Timestamp>,
}

/// A new token. Its text cannot be shown again.
#[derive(Clone, Debug)]
pub struct CreatedToken {
    /// What is kept of it.
    pub record: TokenRecord,
    /// The token itself.
    pub secret: Secret,
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
    /// The tokens of a registry, or without one of a file in the data directory, and `admin`, a further token with the scope
    /// `admin`.
    ///
    /// A registry takes over the tokens of a file, and the file is removed. A token that is valid at `now` wins against one
    /// of the same name that has expired.
    pub fn open(
        registry: Option<Arc<EmbeddedRegistry>>,
        data_dir: &Path,
        admin: Option<&Secret>,
        now: Timestamp,
    ) -> Result<Arc<Self>, OpenError> {
        let path = data_dir.join(file::NAME);
        let found = file::read(&path)?;
        let mut records = registry.as_ref().map_or_else(Vec::new, |registry| registry.tokens());
        for record in found.iter().flatten() {
            records.retain(|known| known.name != record.name || !known.is_expired(now));
            if records.iter().all(|known| known.name != record.name) {
                records.push(record.clone());
            }
        }
        if let (Some(registry), Some(_)) = (&registry, found) {
            let failed = |reason: String| OpenError::Io { path: path.clone(), reason };
            records.sort_by_key(|record| record.created_at);
            registry.replace_tokens(&records).map_err(|error| failed(error.to_string()))?;
            file::remove(&path).map_err(|error| failed(error.to_string()))?;
        }
        let admin = admin.map(|token| secret::hash(token.expose()));
        let records = ArcSwap::from_pointee(records);
        Ok(Arc::new(Self { registry, file: path, records, changes: Mutex::default(), admin }))
    }

    /// Creates a token at `now`. It is durable and valid on return.
    ///
    /// A token of the same name that has expired is replaced.
    pub async fn create(self: &Arc<Self>, new: NewToken, now: Timestamp) -> Result<CreatedToken, TokenError> {
        self.change(move |records| {
            records.retain(|record| record.name != new.name || !record.is_expired(now));
            if records.iter().any(|record| record.name == new.name) {
                return Err(TokenError::NameTaken);
            }
            if records.len() >= TOKENS_MAX {
                return Err(TokenError::TooMany);
            }
            let secret = secret::fresh();
            let NewToken { name, scope, expires_at } = new;
            let record = TokenRecord { name, scope, created_at: now, expires_at, hash: secret::hash(secret.expose()) };
            records.push(record.clone());
            Ok(CreatedToken { record, secret })
        })
        .await
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

    /// The scope of a presented token that is valid at `now`.
    ///
    /// The time that this takes does not depend on how much of the token is right.
    pub fn scope(&self, presented: &str, now: Timestamp) -> Option<Scope> {
        let presented = secret::hash(presented);
        let mut found = None;
        for record in self.records.load().iter() {
            if secret::is_equal(&presented, &record.hash) && !record.is_expired(now) {
                found = Some(record.scope);
            }
        }
        let is_admin = self.admin.is_some_and(|admin| secret::is_equal(&presented, &admin));
        if is_admin { Some(Scope::Admin) } else { found }
    }

    /// Changes the disk and then memory. The change runs to its end even if the caller is dropped.
    async fn change<T: Send + 'static>(
        self: &Arc<Self>,
        change: impl FnOnce(&mut Vec<TokenRecord>) -> Result<T, TokenError> + Send + 'static,
    ) -> Result<T, TokenError> {
        let tokens = Arc::clone(self);
        let changed = tokio::task::spawn_blocking(move || {
            let _alone = tokens.changes.lock().unwrap_or_else(PoisonError::into_inner);
            let before = tokens.records.load_full();
            let mut records = Vec::clone(&before);
            let result = change(&mut records)?;
            if records != *before {
                match &tokens.registry {
                    Some(registry) => registry.replace_tokens(&records)?,
                    None => file::write(&tokens.file, &records).map_err(|error| StoreError::from_io(&error))?,
                }
                tokens.records.store(Arc::new(records));
            }
            Ok(result)
        });
        changed.await.map_err(|error| StoreError::Failed(error.to_string()))?
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;
    use crate::store::disk::Directory;

    const NOW: Timestamp = Timestamp::from_millis(1_000);

    fn new(name: &str) -> NewToken {
        NewToken { name: name.parse().expect("name"), scope: Scope::Read, expires_at: None }
    }

    fn registry(dir: &Path) -> Arc<EmbeddedRegistry> {
        let directory = Directory::lock(dir).expect("nobody else has it");
        Arc::new(EmbeddedRegistry::open(&(Arc::new(directory) as _), [7; 16]).expect("open"))
    }

    /// The tokens of a directory that nobody else has open.
    fn open(dir: &Path) -> Arc<Tokens> {
        Tokens::open(Some(registry(dir)), dir, None, NOW).expect("open")
    }

    fn file_with(dir: &Path, records: &[TokenRecord]) -> PathBuf {
        let path = dir.join(file::NAME);
        file::write(&path, records).expect("write");
        path
    }

    fn record(name: &str, expires_at: Option<Timestamp>, token: &str) -> TokenRecord {
        let (name, scope) = (name.parse().expect("name"), Scope::Read);
        TokenRecord { name, scope, created_at: NOW, expires_at, hash: secret::hash(token) }
    }

    #[tokio::test]
    async fn a_token_outlives_the_process_and_only_its_hash_is_on_the_disk() {
        let dir = tempfile::tempdir().expect("directory");
        let tokens = open(dir.path());
        let created = tokens.create(new("ci-of-us"), NOW).await.expect("created");
        let token = created.secret.expose();
        assert!(token.starts_with("tm_") && token.len() == 46, "{token}");
        assert_eq!(tokens.scope(token, NOW), Some(Scope::Read));
        assert_eq!(tokens.scope(&token[..45], NOW), None);
        assert_eq!(tokens.scope("", NOW), None);

        let octets = std::fs::read(dir.path().join("store/registry.redb")).expect("octets");
        let has = |text: &str| octets.windows(text.len()).any(|window| window == text.as_bytes());
        assert!(has("ci-of-us") && !has(&token[3..]));
        let before = tokens.list();
        drop(tokens);
        let again = open(dir.path());
        assert_eq!(again.scope(token, NOW), Some(Scope::Read));
        assert_eq!(again.list(), before);
    }

    #[tokio::test]
    async fn a_revoked_token_is_invalid_at_once_and_after_a_restart() {
        let dir = tempfile::tempdir().expect("directory");
        let tokens = open(dir.path());
        let first = tokens.create(new("first"), NOW).await.expect("created");
        let second = tokens.create(new("second"), NOW).await.expect("created");
        assert_eq!(tokens.revoke("first".to_owned()).await.expect("revoked"), Some(first.record.clone()));
        assert_eq!(tokens.revoke("first".to_owned()).await.expect("revoked"), None);
        assert_eq!(tokens.scope(first.secret.expose(), NOW), None);
        assert_eq!(tokens.scope(second.secret.expose(), NOW), Some(Scope::Read));
        tokens.revoke(second.record.id()).await.expect("revoked").expect("by its id");
        drop(tokens);
        assert!(open(dir.path()).list().is_empty());
    }

    #[tokio::test]
    async fn names_are_unique_among_valid_tokens_and_the_number_is_limited() {
        let dir = tempfile::tempdir().expect("directory");
        let tokens = open(dir.path());
        let expires_at = Some(NOW.plus(std::time::Duration::from_secs(1)));
        let short = tokens.create(NewToken { expires_at, ..new("ci") }, NOW).await.expect("created");
        assert!(matches!(tokens.create(new("ci"), NOW).await, Err(TokenError::NameTaken)));
        let later = NOW.plus(std::time::Duration::from_secs(1));
        assert_eq!(tokens.scope(short.secret.expose(), NOW), Some(Scope::Read));
        assert_eq!(tokens.scope(short.secret.expose(), later), None);
        tokens.create(new("ci"), later).await.expect("the expired one is replaced");
        let record = tokens.list()[0].clone();
        let named = |number| TokenRecord { name: format!("t{number}").parse().expect("name"), ..record.clone() };
        tokens.records.store(Arc::new((0..TOKENS_MAX).map(named).collect()));
        assert!(matches!(tokens.create(new("one-more"), NOW).await, Err(TokenError::TooMany)));
    }

    #[tokio::test]
    async fn a_token_that_is_not_on_disk_is_not_valid() {
        let dir = tempfile::tempdir().expect("directory");
        let tokens = open(dir.path());
        let created = tokens.create(new("ci"), NOW).await.expect("created");
        tokens.registry.as_ref().expect("registry").close().expect("close");
        assert!(matches!(tokens.create(new("late"), NOW).await, Err(TokenError::Store(_))));
        assert!(matches!(tokens.revoke("ci".into()).await, Err(TokenError::Store(_))));
        assert_eq!(*tokens.list(), [created.record]);
    }

    #[tokio::test]
    async fn tokens_in_a_file_are_taken_over_once() {
        let dir = tempfile::tempdir().expect("directory");
        let of_file = [record("of-file", None, "a"), record("too", None, "b")];
        let path = file_with(dir.path(), &of_file);
        assert_eq!(*open(dir.path()).list(), of_file);
        assert!(!path.exists());
        let tokens = open(dir.path());
        assert_eq!(*tokens.list(), of_file);
        tokens.revoke("too".to_owned()).await.expect("revoked").expect("it was there");
        drop(tokens);
        let tokens = open(dir.path());
        assert_eq!(*tokens.list(), [record("of-file", None, "a")]);
        assert_eq!(tokens.scope("a", NOW), Some(Scope::Read));
    }

    #[tokio::test]
    async fn a_valid_token_wins_when_store_and_file_have_its_name() {
        let dir = tempfile::tempdir().expect("directory");
        let of_store = [record("first", Some(NOW), "s1"), record("second", None, "s2"), record("third", None, "s3")];
        registry(dir.path()).replace_tokens(&of_store).expect("written");
        let of_file = [record("first", None, "f1"), record("second", Some(NOW), "f2"), record("third", None, "f3")];
        file_with(dir.path(), &of_file);
        let tokens = open(dir.path());
        let [_, second, third] = of_store;
        let [first, ..] = of_file;
        assert_eq!(*tokens.list(), [second, third, first]);
    }

    #[tokio::test]
    async fn without_a_registry_tokens_are_in_the_file() {
        let open = |dir: &Path| Tokens::open(None, dir, None, NOW).expect("open");
        let dir = tempfile::tempdir().expect("directory");
        let created = open(dir.path()).create(new("first"), NOW).await.expect("created");
        let tokens = open(dir.path());
        assert_eq!(*tokens.list(), [created.record]);
        tokens.create(new("second"), NOW).await.expect("created");
        tokens.revoke("first".into()).await.expect("revoked").expect("it was there");
        assert_eq!(*open(dir.path()).list(), *tokens.list());
        assert_eq!(tokens.list().len(), 1);
        let mode = std::fs::metadata(dir.path().join(file::NAME)).expect("file").permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
        let tokens = open(&dir.path().join("gone"));
        assert!(matches!(tokens.create(new("ci"), NOW).await, Err(TokenError::Store(_))));
        assert!(tokens.list().is_empty());
    }

    #[test]
    fn the_token_of_the_environment_has_the_scope_admin() {
        let dir = tempfile::tempdir().expect("directory");
        let admin = Secret::new("a".repeat(32));
        let tokens = Tokens::open(None, dir.path(), admin.as_ref(), NOW).expect("open");
        assert_eq!(tokens.scope(&"a".repeat(32), NOW), Some(Scope::Admin));
        assert_eq!(tokens.scope(&"a".repeat(31), NOW), None);
    }
}
