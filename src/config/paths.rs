//! The default places of the data directory, the configuration file and the state of the command line.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// The name below the directories of the XDG Base Directory Specification.
const NAME: &str = "tempmail";

/// The data directory: `$STATE_DIRECTORY` (systemd's), else `$XDG_DATA_HOME/tempmail`, else
/// `$HOME/.local/share/tempmail`; `None` where the environment names none of them.
pub fn default_data_dir(env: &BTreeMap<String, String>) -> Option<PathBuf> {
    // systemd separates several with colons; the first is the one for state.
    let state = env.get("STATE_DIRECTORY").and_then(|list| list.split(':').next()).and_then(absolute);
    state.or_else(|| below(env, "XDG_DATA_HOME", ".local/share"))
}

/// The user's configuration file: `$XDG_CONFIG_HOME/tempmail/config.toml`, else `$HOME/.config/tempmail/config.toml`.
/// It need not exist.
pub fn user_config_file(env: &BTreeMap<String, String>) -> Option<PathBuf> {
    below(env, "XDG_CONFIG_HOME", ".config").map(|dir| dir.join("config.toml"))
}

/// Where the user's programs keep what is neither theirs to set nor data of a service: `$XDG_STATE_HOME/tempmail`, else
/// `$HOME/.local/state/tempmail`. It need not exist.
pub fn user_state_dir(env: &BTreeMap<String, String>) -> Option<PathBuf> {
    below(env, "XDG_STATE_HOME", ".local/state")
}

fn below(env: &BTreeMap<String, String>, variable: &str, in_home: &str) -> Option<PathBuf> {
    let base = env.get(variable).and_then(|dir| absolute(dir));
    let base = base.or_else(|| Some(absolute(env.get("HOME")?)?.join(in_home)));
    base.map(|base| base.join(NAME))
}

/// The XDG specification ignores a relative path.
fn absolute(dir: &str) -> Option<PathBuf> {
    Some(Path::new(dir)).filter(|path| path.is_absolute()).map(Path::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn env(pairs: &[(&str, &str)]) -> BTreeMap<String, String> {
        pairs.iter().map(|&(name, value)| (name.to_owned(), value.to_owned())).collect()
    }

    #[test]
    fn the_data_directory_is_systemds_then_the_users() {
        let all = [("STATE_DIRECTORY", "/var/lib/tempmail:/x"), ("XDG_DATA_HOME", "/xdg"), ("HOME", "/home/ann")];
        for (given, dir) in [
            (&all[..], Some("/var/lib/tempmail")),
            (&all[1..], Some("/xdg/tempmail")),
            (&all[2..], Some("/home/ann/.local/share/tempmail")),
            (&all[3..], None),
        ] {
            assert_eq!(default_data_dir(&env(given)), dir.map(PathBuf::from));
        }
    }

    #[test]
    fn relative_and_empty_base_directories_are_ignored() {
        let given = env(&[("STATE_DIRECTORY", ""), ("XDG_DATA_HOME", "data"), ("XDG_CONFIG_HOME", ""), ("HOME", "/h")]);
        assert_eq!(default_data_dir(&given), Some("/h/.local/share/tempmail".into()));
        assert_eq!(user_config_file(&given), Some("/h/.config/tempmail/config.toml".into()));
        assert_eq!(user_config_file(&env(&[("HOME", "")])), None);
        let state = [("XDG_STATE_HOME", "state"), ("HOME", "/h")];
        assert_eq!(user_state_dir(&env(&state)), Some("/h/.local/state/tempmail".into()));
    }
}
