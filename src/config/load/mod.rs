//! From the sources to one validated [`Config`].

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::error::{ConfigError, ConfigProblem, KeyLocation, ValueOrigin, Warning, nearest};
use super::setting::{Setting, Shape, variable};
use super::settings::SETTINGS;
use super::{Config, Revision, ServeArgs, check, file, paths};
use crate::model::Secret;

/// The configuration file of the whole machine.
const SYSTEM_CONFIG_FILE: &str = "/etc/tempmail/config.toml";

/// The variable with a token for the administrator. Neither a flag nor the file has it, since others can often read those.
const ADMIN_TOKEN: &str = "TEMPMAIL_ADMIN_TOKEN";
/// The shortest such token in octets.
const ADMIN_TOKEN_OCTETS_MIN: usize = 32;

/// Variables that are no settings of `serve`: the place of the file, a token, and what the client reads.
const OTHER_VARIABLES: [&str; 4] = ["TEMPMAIL_CONFIG", ADMIN_TOKEN, "TEMPMAIL_SERVER", "TEMPMAIL_TOKEN"];

/// Everything that settings are read from, as it was when the program began.
#[derive(Clone, Debug, Default)]
pub struct Sources {
    /// `--data-dir`
    pub data_dir: Option<PathBuf>,
    /// `--config`
    pub config_file: Option<PathBuf>,
    /// The flags of `serve`.
    pub args: ServeArgs,
    /// At least `TEMPMAIL_*`, `XDG_CONFIG_HOME`, `XDG_DATA_HOME`, `HOME` and `STATE_DIRECTORY`. An empty variable counts
    /// as not set.
    pub env: BTreeMap<String, String>,
}

/// The settings, and what was read for them.
#[derive(Clone, Debug)]
pub struct Loaded {
    /// The values in effect.
    pub config: Config,
    /// The configuration file that was read.
    pub file: Option<PathBuf>,
    /// What is probably not as it was meant.
    pub warnings: Vec<Warning>,
}

/// What the machine contributes; apart from [`Sources`] so that tests do not depend on it.
struct Machine<'a> {
    config_file: &'a Path,
    name: &'a str,
}

/// A value and where it stands.
struct Given {
    setting: &'static Setting,
    origin: ValueOrigin,
    values: Vec<String>,
}

/// Reads every source, flags before environment before file before the defaults of the revision, and checks the whole.
///
/// A bad value is an error also where a stronger source overrides it. All problems are reported at once.
pub fn load(sources: &Sources) -> Result<Loaded, ConfigError> {
    let uname = rustix::system::uname();
    let name = uname.nodename().to_str().unwrap_or_default();
    load_on(&Machine { config_file: Path::new(SYSTEM_CONFIG_FILE), name }, sources)
}

/// Checks one file as [`load`] does, without flags, environment or another file.
pub fn check_file(path: &Path) -> Result<Loaded, ConfigError> {
    // A file need not name a data directory, and nothing looks at this one.
    let env = [("STATE_DIRECTORY".to_owned(), "/".to_owned())].into();
    let sources = Sources { config_file: Some(path.to_owned()), env, ..Sources::default() };
    load_on(&Machine { config_file: path, name: "" }, &sources)
}

fn load_on(machine: &Machine<'_>, sources: &Sources) -> Result<Loaded, ConfigError> {
    let file = config_file(machine, sources);
    let (entries, mut problems) = file.as_deref().map(file::read).unwrap_or_default();
    // Weakest first: a later value overwrites an earlier one.
    let mut given: Vec<Given> = Vec::new();
    if let Some(path) = &file {
        given.extend(entries.into_iter().map(|entry| Given {
            setting: entry.setting,
            origin: ValueOrigin::File { path: path.clone(), line: entry.line },
            values: entry.values,
        }));
    }
    given.extend(Setting::all().filter_map(|setting| from_environment(setting, sources)));
    given.extend(Setting::all().filter_map(|setting| from_flags(setting, sources)));

    let revision = revision_of(&given);
    let data_dir = paths::default_data_dir(&sources.env);
    let mut config = Config::of_revision(revision, data_dir.unwrap_or_default());
    let mut origins: BTreeMap<_, _> =
        SETTINGS.iter().map(|setting| (setting.key, ValueOrigin::Default(revision))).collect();
    let mut warnings = Vec::new();
    for Given { setting, origin, values } in given {
        if let Some(removal) = setting.removal {
            let (location, instead) = (KeyLocation { key: setting.key.to_owned(), origin }, removal.instead);
            if removal.is_harmless(&values) {
                warnings.push(Warning::Removed { location, instead });
            } else {
                problems.push(ConfigProblem::Removed { location, instead });
            }
            continue;
        }
        match setting.set(&mut config, &values) {
            Ok(()) => {
                origins.insert(setting.key, origin);
            }
            Err(error) => {
                problems.push(ConfigProblem::Value {
                    location: KeyLocation { key: setting.key.to_owned(), origin },
                    error,
                });
            }
        }
    }
    settle_paths(&mut config, &mut origins, sources);
    if config.data_dir.as_os_str().is_empty() {
        problems.push(ConfigProblem::NoDataDir);
    }
    config.admin_token = admin_token(sources, &mut problems);
    check::derive(&mut config, machine.name, |key| !matches!(origins.get(key), Some(ValueOrigin::Default(_))));
    // Of values that are partly wrong a contradiction may be no more than an echo.
    if problems.is_empty() {
        problems.extend(check::contradictions(&config).into_iter().map(|(key, contradiction)| {
            let origin = origins.get(key).cloned().unwrap_or(ValueOrigin::Default(revision));
            ConfigProblem::Contradiction { location: KeyLocation { key: key.to_owned(), origin }, contradiction }
        }));
    }
    if problems.is_empty() {
        warnings.extend(probable_mistakes(&config, sources));
        config.origins = origins;
        Ok(Loaded { config, file, warnings })
    } else {
        // The file is read from the top down; what is not about the file comes after it.
        problems.sort_by_key(|problem| problem.line().unwrap_or(usize::MAX));
        Err(ConfigError { problems })
    }
}

fn config_file(machine: &Machine<'_>, sources: &Sources) -> Option<PathBuf> {
    let variable = sources.env.get("TEMPMAIL_CONFIG").filter(|path| !path.is_empty()).map(Path::new);
    let user = paths::user_config_file(&sources.env);
    let usual = user.as_deref().into_iter().chain([machine.config_file]);
    file::find(sources.config_file.as_deref().or(variable), usual).map(Path::to_owned)
}

fn from_environment(setting: &'static Setting, sources: &Sources) -> Option<Given> {
    let text = sources.env.get(&setting.variable()).filter(|text| !text.is_empty())?;
    let values = if setting.shape == Shape::Several { split(text) } else { vec![text.clone()] };
    Some(Given { setting, origin: ValueOrigin::Environment, values })
}

fn from_flags(setting: &'static Setting, sources: &Sources) -> Option<Given> {
    let given = sources.args.get(setting.key)?;
    let values = match setting.shape {
        Shape::Several => given.iter().flat_map(|text| split(text)).collect(),
        Shape::Switch | Shape::One => given.to_vec(),
    };
    Some(Given { setting, origin: ValueOrigin::Flag, values })
}

fn admin_token(sources: &Sources, problems: &mut Vec<ConfigProblem>) -> Option<Secret> {
    let text = sources.env.get(ADMIN_TOKEN).filter(|text| !text.is_empty())?;
    if text.len() < ADMIN_TOKEN_OCTETS_MIN || !text.bytes().all(|octet| octet.is_ascii_graphic()) {
        problems.push(ConfigProblem::AdminToken { variable: ADMIN_TOKEN, octets_min: ADMIN_TOKEN_OCTETS_MIN });
    }
    Secret::new(text.clone())
}

/// The revision in effect, known before everything else because the defaults come from it. A bad value is reported
/// with all others.
fn revision_of(given: &[Given]) -> Revision {
    let mut probe = Config::of_revision(Revision::default(), PathBuf::new());
    for given in given.iter().filter(|given| given.setting.key == "revision") {
        let _ = given.setting.set(&mut probe, &given.values);
    }
    probe.revision
}

/// Takes the flag, which may be no UTF-8, and reads relative paths in the file as relative to the file.
fn settle_paths(config: &mut Config, origins: &mut BTreeMap<&'static str, ValueOrigin>, sources: &Sources) {
    let files = [
        ("tls-cert", &mut config.tls.certificate),
        ("tls-key", &mut config.tls.key),
        ("cassandra-password-file", &mut config.cassandra.password_file),
        ("cassandra-ca", &mut config.cassandra.ca),
    ];
    let files = files.into_iter().filter_map(|(key, path)| Some((key, path.as_mut()?)));
    for (key, path) in files.chain([("data-dir", &mut config.data_dir)]) {
        if let Some(ValueOrigin::File { path: file, .. }) = origins.get(key) {
            *path = file.parent().unwrap_or(Path::new("")).join(&*path);
        }
    }
    if let Some(dir) = &sources.data_dir {
        config.data_dir.clone_from(dir);
        origins.insert("data-dir", ValueOrigin::Flag);
    }
}

fn probable_mistakes(config: &Config, sources: &Sources) -> Vec<Warning> {
    let keys = || SETTINGS.iter().map(|setting| setting.key);
    let is_known =
        |name: &str| OTHER_VARIABLES.contains(&name) || Setting::all().any(|setting| setting.variable() == name);
    let set = sources.env.iter().filter(|(_, value)| !value.is_empty()).map(|(name, _)| name.as_str());
    // The prefix is compared apart: it alone would make every name look like every other.
    let mut warnings: Vec<Warning> = set
        .filter(|name| !is_known(name))
        .filter_map(|name| Some((name, name.strip_prefix("TEMPMAIL_")?)))
        .map(|(name, rest)| Warning::UnknownVariable {
            name: name.to_owned(),
            nearest: nearest(rest, keys()).map(variable),
        })
        .collect();
    if !config.domains.public_addresses.is_empty() && config.domains.mx_hosts.is_empty() {
        warnings.push(Warning::PublicAddressWithoutMxHost);
    }
    warnings
}

/// The parts of a list with commas. Blanks around a part and empty parts are dropped.
pub(super) fn split(text: &str) -> Vec<String> {
    text.split(',').map(str::trim).filter(|part| !part.is_empty()).map(str::to_owned).collect()
}

#[cfg(test)]
mod tests;
