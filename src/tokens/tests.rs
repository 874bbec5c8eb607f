//! Tests of tokens.

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
    assert_ne!(fresh(PREFIX), fresh(PREFIX));
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

/// Everything that the log of this thread gets.
fn log() -> (tempfile::NamedTempFile, impl Sized) {
    let file = tempfile::NamedTempFile::new().expect("a file");
    let writer = file.reopen().expect("the same file");
    let subscriber =
        tracing_subscriber::fmt().with_ansi(false).with_writer(move || writer.try_clone().expect("a copy"));
    // While there is one subscriber only, tracing asks the thread that comes first to an event whether anyone wants it,
    // for all threads.
    let second = tracing::Dispatch::new(tracing::subscriber::NoSubscriber::new());
    (file, (second, tracing::subscriber::set_default(subscriber.finish())))
}

/// Nobody learned that the token of the file had gone.
#[tokio::test]
async fn a_token_of_the_file_that_is_lost_is_named_in_the_log_once() {
    let dir = tempfile::tempdir().expect("directory");
    let earlier = store(dir.path());
    let of_store = [record("first", None, "s1"), record("third", None, "s3")];
    assert!(earlier.replace_tokens(&[], &of_store).await.expect("written"));
    earlier.close().await.expect("close");
    drop(earlier);
    let (expired, same) = (record("third", Some(NOW), "f3"), record("first", None, "s1"));
    for (of_file, is_lost) in [(record("first", None, "f1"), true), (expired, false), (same, false)] {
        file_with(dir.path(), &[of_file, record("second", None, "f2")]);
        let (log, _guard) = log();
        close(open(dir.path()).await).await;
        let log = std::fs::read_to_string(log.path()).expect("the lines");
        let warned: Vec<&str> = log.lines().filter(|line| line.contains("WARN")).collect();
        assert_eq!(warned.len(), usize::from(is_lost), "{log}");
        assert!(warned.iter().all(|line| line.contains("names=\"first\"")), "{log}");
    }
}
