use std::os::unix::net::{UnixListener, UnixStream};
use std::time::Duration;

use super::*;

fn local(data_dir: &Path) -> Destination {
    Destination::Local(sources(Some(data_dir), &[]))
}

fn sources(data_dir: Option<&Path>, env: &[(&str, &str)]) -> Sources {
    Sources {
        data_dir: data_dir.map(Path::to_owned),
        env: env.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect(),
        ..Sources::default()
    }
}

#[test]
fn a_daemon_with_a_full_queue_is_found_without_waiting() {
    let dir = tempfile::tempdir().expect("directory");
    let path = dir.path().join("tempmail.sock");
    let listener = UnixListener::bind(&path).expect("socket");
    // The shortest queue. A daemon that is stopped accepts nothing from it.
    rustix::net::listen(&listener, 0).expect("listen");
    let _queued = UnixStream::connect(&path).expect("a place in the queue");
    let (send, found) = std::sync::mpsc::channel();
    let sources = sources(Some(dir.path()), &[]);
    std::thread::spawn(move || send.send(is_running(&sources)));
    // A connection that waits would wait for ever, because nobody accepts one.
    let found = found.recv_timeout(Duration::from_secs(5)).expect("an answer at once");
    assert!(found.is_ok_and(|is_running| is_running));
}

#[test]
fn a_stale_socket_is_no_daemon() {
    let dir = tempfile::tempdir().expect("directory");
    drop(UnixListener::bind(dir.path().join("tempmail.sock")).expect("socket"));
    let error = choose(&local(dir.path())).expect_err("nobody listens");
    assert_eq!(error.exit(), Exit::Unavailable);
    assert!(error.what_to_do().is_some_and(|hint| hint.contains("tempmail serve")), "{error}");
    assert!(is_running(&sources(Some(dir.path()), &[])).is_ok_and(|is_running| !is_running));
}

#[test]
fn a_missing_data_directory_is_not_created() {
    let dir = tempfile::tempdir().expect("directory");
    let missing = dir.path().join("data");
    let error = choose(&local(&missing)).expect_err("missing");
    assert_eq!(error.exit(), Exit::Unavailable);
    assert!(error.to_string().contains("does not exist"));
    assert!(!missing.exists());
}

#[test]
fn a_data_directory_of_another_user_is_refused() {
    // Whoever runs the test, one of the two belongs to somebody else; /proc/1 is root's.
    let dir = tempfile::tempdir().expect("directory");
    let foreign = if rustix::process::geteuid().is_root() {
        rustix::fs::chown(dir.path(), Some(rustix::fs::Uid::from_raw(65_534)), None).expect("chown");
        dir.path()
    } else {
        Path::new("/proc/1")
    };
    assert_eq!(choose(&local(foreign)).expect_err("foreign").exit(), Exit::NotAllowed);
}

#[test]
fn a_named_server_is_asked_whatever_is_here() {
    let server = "http://127.0.0.1:9".parse().expect("url");
    let transport = choose(&Destination::Server(server, Access::default())).expect("transport");
    assert!(!transport.is_local());
}

#[test]
fn a_path_too_long_for_a_socket_gets_a_name_in_the_runtime_directory() {
    let run = Path::new("/run/user/1000");
    assert_eq!(socket_path(Path::new("/data"), Some(run)), Some(PathBuf::from("/data/tempmail.sock")));
    let long = PathBuf::from(format!("/{}", "d".repeat(100)));
    let named = socket_path(&long, Some(run)).expect("named place");
    assert!(named.starts_with(run));
    assert_eq!(socket_path(&long, Some(run)), Some(named.clone()));
    assert_ne!(socket_path(&long.join("x"), Some(run)), Some(named));
    assert_eq!(socket_path(&long, None), None);
}

#[test]
fn the_data_directory_is_the_one_named_or_the_configurations() {
    let dir = tempfile::tempdir().expect("directory");
    let file = dir.path().join("config.toml");
    std::fs::write(&file, "data-dir = '/file'").expect("write");
    let env = [("TEMPMAIL_DATA_DIR", "/env"), ("HOME", "/home/ann")];
    let of = |flag: Option<&str>, env: &[(&str, &str)], config_file: Option<&PathBuf>| {
        let sources = sources(flag.map(Path::new), env);
        data_dir(&Sources { config_file: config_file.cloned(), ..sources }).expect("directory")
    };
    assert_eq!(of(Some("/flag"), &env, Some(&file)), Path::new("/flag"));
    assert_eq!(of(None, &env, Some(&file)), Path::new("/env"));
    assert_eq!(of(None, &env[1..], Some(&file)), Path::new("/file"));
    assert!(of(Some("relative"), &env, None).is_absolute());
}

#[test]
fn a_bad_configuration_is_said_as_one() {
    let missing = Sources { config_file: Some("/does/not/exist.toml".into()), ..sources(None, &[("HOME", "/h")]) };
    assert_eq!(data_dir(&missing).expect_err("no file").exit(), Exit::BadConfig);
}

#[test]
fn a_new_store_beside_that_of_a_service_must_be_named() {
    let dir = tempfile::tempdir().expect("directory");
    let (own, of_service) = (dir.path().join("own"), dir.path().join("service"));
    assert!(check_meant(&own, &of_service).is_ok(), "there is no service");
    std::fs::create_dir(&of_service).expect("directory");
    let error = check_meant(&own, &of_service).expect_err("the other one is meant");
    assert_eq!(error.exit(), Exit::Usage);
    assert!(error.what_to_do().is_some_and(|hint| hint.contains(&format!("--data-dir {}", of_service.display()))));
    assert!(!own.exists());
    std::fs::create_dir_all(own.join("store")).expect("directory");
    std::fs::write(own.join("store").join("a-file"), "").expect("write");
    assert!(check_meant(&own, &of_service).is_ok(), "it has a store");

    let file = dir.path().join("config.toml");
    std::fs::write(&file, "data-dir = '/file'").expect("write");
    let is_usual = |flag: Option<&Path>, env: &[(&str, &str)], config_file: Option<&PathBuf>| {
        let given = Sources { config_file: config_file.cloned(), ..sources(flag, env) };
        is_usual_data_dir(&given).expect("settings")
    };
    let home = ("HOME", "/home/ann");
    assert!(is_usual(None, &[home], None));
    assert!(!is_usual(Some(&own), &[home], None));
    assert!(!is_usual(None, &[home, ("TEMPMAIL_DATA_DIR", "/env")], None));
    assert!(!is_usual(None, &[home, ("STATE_DIRECTORY", "/var/lib/tempmail")], None));
    assert!(!is_usual(None, &[home], Some(&file)));
}
