//! Where the cluster is, and how it is asked.

use std::fs::File;
use std::io::{self, Read};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::config::{Cluster, Config, StoreLocation, Trust};
use crate::model::Secret;
use crate::store::OpenError;
use crate::tls::{self, ClientTls};

/// The longest file with a password that is read, in octets.
const PASSWORD_OCTETS_MAX: u64 = 4096;
/// The mode bits of users who are neither the owner of a file nor of its group.
const OTHERS: u32 = 0o007;

/// The connection to a cluster of Apache Cassandra.
#[derive(Clone, Debug)]
pub struct CassandraOptions {
    /// Nodes to begin with, each as `host:port`. The driver learns the others from them.
    pub contact_points: Vec<String>,
    /// The keyspace.
    pub keyspace: String,
    /// The data centre whose nodes are asked; `None` in a cluster with one.
    pub data_center: Option<String>,
    /// How many servers keep each row of a keyspace that is made.
    pub replication: u32,
    /// User and password, if the cluster asks for them.
    pub credentials: Option<(String, Secret)>,
    /// What secures the connections; `None` without TLS.
    pub tls: Option<ClientTls>,
    /// How long one request may take.
    pub timeout: Duration,
    /// How long events of webhooks outlive their mail.
    pub grace: Duration,
}

impl CassandraOptions {
    /// What the settings say; `None` while mail is kept in the data directory.
    ///
    /// Reads the files of the password and of the authorities. [`OpenError::Setting`] names the one that can't be used.
    pub fn from_config(config: &Config) -> Result<Option<Self>, OpenError> {
        let StoreLocation::Cassandra(cluster) = &config.store.location else { return Ok(None) };
        let Cluster { contact_points, keyspace, data_center, replication, credentials, trust } = cluster.clone();
        let secret = |(user, file): (String, PathBuf)| password(&file).map(|password| (user, password));
        let credentials = credentials.map(secret).transpose()?;
        let ca = if let Some(Trust::File(file)) = &trust { Some(file.as_path()) } else { None };
        let tls = trust.is_some().then(|| tls::connection_config(ca)).transpose();
        Ok(Some(Self {
            contact_points,
            keyspace,
            data_center,
            replication,
            credentials,
            tls: tls.map_err(|error| OpenError::Setting { key: "store: ca", reason: error.to_string() })?,
            timeout: config.store.cluster_timeout,
            grace: config.webhooks.grace,
        }))
    }
}

/// The password in a file, without the end of its line.
fn password(path: &Path) -> Result<Secret, OpenError> {
    let wrong =
        |what: &str| OpenError::Setting { key: "store: password-file", reason: format!("{}: {what}", path.display()) };
    let unreadable = |error: io::Error| wrong(&format!("{error}; see that it is there and that this user may read it"));
    let file = File::open(path).map_err(unreadable)?;
    if file.metadata().map_err(unreadable)?.mode() & OTHERS != 0 {
        return Err(wrong(&format!("other users may read it: chmod o= {}", path.display())));
    }
    let mut octets = Vec::new();
    file.take(PASSWORD_OCTETS_MAX + 1).read_to_end(&mut octets).map_err(unreadable)?;
    if octets.len() as u64 > PASSWORD_OCTETS_MAX {
        return Err(wrong(&format!("it has more than {PASSWORD_OCTETS_MAX} octets; it must hold a password alone")));
    }
    let text = String::from_utf8(octets).map_err(|_| wrong("it is no UTF-8; it must hold a password alone"))?;
    let line = text.strip_suffix('\n').map_or(&*text, |line| line.strip_suffix('\r').unwrap_or(line));
    Secret::new(line.to_owned()).ok_or_else(|| wrong("it is empty; it must hold the password of the user in store"))
}

#[cfg(test)]
mod tests {
    use std::fs::Permissions;
    use std::os::unix::fs::PermissionsExt;

    use super::*;
    use crate::config::Revision;

    fn config(query: &str) -> Config {
        let mut config = Config::of_revision(Revision::Two, "/data".into());
        let text = format!("cassandra://10.0.0.1,[::1]:9142/tempmail{query}");
        config.store.location = text.parse().expect("a location");
        config
    }

    fn options(query: &str) -> Result<CassandraOptions, String> {
        let options = CassandraOptions::from_config(&config(query)).map_err(|error| error.to_string())?;
        Ok(options.expect("a cluster"))
    }

    fn file(dir: &Path, text: &[u8], mode: u32) -> std::path::PathBuf {
        let path = dir.join("file");
        std::fs::write(&path, text).expect("write");
        std::fs::set_permissions(&path, Permissions::from_mode(mode)).expect("mode");
        path
    }

    #[test]
    fn an_embedded_store_has_no_options() {
        let embedded = Config::of_revision(Revision::Two, "/data".into());
        assert!(CassandraOptions::from_config(&embedded).expect("no error").is_none());
    }

    #[test]
    fn the_settings_are_the_options() {
        let mut config = config("?dc=east");
        config.store.cluster_timeout = Duration::from_millis(300);
        let options = CassandraOptions::from_config(&config).expect("options").expect("a cluster");
        assert_eq!(options.contact_points, ["10.0.0.1:9042", "[::1]:9142"]);
        assert_eq!((&*options.keyspace, options.data_center.as_deref()), ("tempmail", Some("east")));
        assert_eq!((options.timeout, options.grace), (Duration::from_millis(300), config.webhooks.grace));
        assert!(options.credentials.is_none() && options.tls.is_none() && options.replication == 3);
    }

    #[test]
    fn a_password_ends_with_its_line_and_is_its_users_own() {
        let dir = tempfile::tempdir().expect("directory");
        let read = |text: &[u8], mode| {
            let file = file(dir.path(), text, mode);
            let options = options(&format!("?user=ann&password-file={}", file.display()))?;
            let (user, password) = options.credentials.expect("credentials");
            Ok::<_, String>((user, password.expose().to_owned()))
        };
        for text in ["se cret", "se cret\n", "se cret\r\n"] {
            assert_eq!(read(text.as_bytes(), 0o600), Ok(("ann".into(), "se cret".into())), "{text:?}");
        }
        assert!(read(b"secret", 0o640).is_ok(), "a group may have the file");
        let long = vec![b'x'; 5000];
        for (text, mode, what) in [
            (&b"secret"[..], 0o604, "other users may read it: chmod o= "),
            (b"\n", 0o600, "it is empty"),
            (b"", 0o600, "it is empty"),
            (b"\xff", 0o600, "it is no UTF-8"),
            (&long, 0o600, "it has more than 4096 octets"),
        ] {
            let error = read(text, mode).expect_err(what);
            assert!(error.starts_with("store: password-file: /") && error.contains(what), "{error}");
        }
    }

    #[test]
    fn authorities_are_read_from_their_file_or_are_the_machines() {
        let dir = tempfile::tempdir().expect("directory");
        assert!(options("?ca=system").expect("options").tls.is_some());
        let key = rcgen::KeyPair::generate().expect("a key");
        let authority = rcgen::CertificateParams::new([]).and_then(|of| of.self_signed(&key)).expect("a certificate");
        let of_file = |path: &Path| options(&format!("?ca={}", path.display()));
        assert!(of_file(&file(dir.path(), authority.pem().as_bytes(), 0o644)).expect("options").tls.is_some());
        let error = of_file(&file(dir.path(), b"no certificate", 0o644)).expect_err("no certificate");
        assert!(error.starts_with("store: ca: /") && error.contains("no section"), "{error}");
        let error = of_file(&dir.path().join("missing")).expect_err("no file");
        assert!(error.starts_with("store: ca: /"), "{error}");
    }
}
