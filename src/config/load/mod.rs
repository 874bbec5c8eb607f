//! From the sources to one validated [`Config`].
//!
//! Each source becomes texts of keys; the strongest wins, and clap reads the texts that are left.

mod layers;

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use clap::FromArgMatches;
use layers::{Layers, argument, keys, layers};

use super::error::{ConfigError, ConfigProblem, ValueOrigin, did_you_mean};
use super::setting::{Setting, all, reader, variable};
use super::{Certificate, Config, DEV, REVISION_ONE, Revision, SettingInEffect, check, file, paths};
use crate::model::Secret;

pub(super) use layers::Given;
pub use layers::Sources;

/// The configuration file of the whole machine.
const SYSTEM_CONFIG_FILE: &str = "/etc/tempmail/config.toml";

/// The variable with a token for the administrator. Neither a flag nor the file has it, since others can often read those.
const ADMIN_TOKEN: &str = "TEMPMAIL_ADMIN_TOKEN";
/// The shortest such token in octets.
const ADMIN_TOKEN_OCTETS_MIN: usize = 32;

/// Variables that are no settings of `serve`: the place of the file, a token, and what the client and `tests/examples` read.
const OTHER_VARIABLES: [&str; 8] = [
    "TEMPMAIL_CONFIG",
    ADMIN_TOKEN,
    "TEMPMAIL_SERVER",
    "TEMPMAIL_TOKEN",
    "TEMPMAIL_URL",
    "TEMPMAIL_SMTP",
    "TEMPMAIL_BIN",
    "TEMPMAIL_IMAGE",
];

/// The settings, and what was read for them.
#[derive(Clone, Debug)]
pub struct Loaded {
    /// The values in effect.
    pub config: Config,
    /// The configuration file that was read.
    pub file: Option<PathBuf>,
    /// What is probably not as it was meant, but stops nothing; one line each.
    pub warnings: Vec<String>,
}

/// What the machine contributes; apart from [`Sources`] so that tests do not depend on it.
struct Machine<'a> {
    config_file: &'a Path,
    name: &'a str,
}

/// Adds what `dev` presets, if it is given, and the defaults of the revision in effect, which is given or itself a default.
fn fill(given: &mut BTreeMap<&'static str, Given>) {
    let is = |key, value| given.get(key).is_some_and(|given| given.values == [value]);
    let (revision, defaults) =
        if is("revision", "1") { (Revision::One, REVISION_ONE) } else { (Revision::Two, &[][..]) };
    let dev = if is("dev", "true") { DEV } else { &[] };
    let preset = |preset: &[(&str, &str)], setting: &Setting| {
        let (_, text) = preset.iter().find(|(key, _)| *key == setting.key)?;
        Some(setting.shape.values(&[(*text).to_owned()]))
    };
    for setting in all() {
        let (values, origin) = if let Some(values) = preset(dev, setting) {
            (values, ValueOrigin::Dev)
        } else {
            let default = preset(defaults, setting).unwrap_or_else(|| setting.default.clone());
            (default, ValueOrigin::Default(revision))
        };
        given.entry(&setting.key).or_insert(Given { values, origin });
    }
}

/// Reads all settings, each of which is good alone.
fn read(given: BTreeMap<&'static str, Given>, data_dir: PathBuf) -> Config {
    let texts = all().map(|setting| argument(setting, &given[&*setting.key].values));
    let mut config = reader()
        .try_get_matches_from(texts)
        .and_then(|matches| Config::from_arg_matches(&matches))
        .unwrap_or_else(|error| unreachable!("each value is good alone: {error}"));
    config.data_dir = data_dir;
    config.given = given;
    config
}

/// Paths in a file are relative to the file, and are shown from the root on.
fn settle_paths(config: &mut Config) {
    let dir_of = |key| match config.origin(key) {
        ValueOrigin::File { path, .. } => path.parent().map(Path::to_owned).unwrap_or_default(),
        _ => PathBuf::new(),
    };
    let [of_data, of_certificate, of_key, of_store] = ["data-dir", "tls-cert", "tls-key", "store"].map(dir_of);
    let mut show = |key, text: String| {
        config.given.entry(key).and_modify(|given| given.values = vec![text]);
    };
    config.data_dir = of_data.join(&config.data_dir);
    if let Certificate::File(file) = &mut config.tls.certificate {
        *file = of_certificate.join(&*file);
        show("tls-cert", file.display().to_string());
    }
    if let Some(file) = &mut config.tls.key {
        *file = of_key.join(&*file);
        show("tls-key", file.display().to_string());
    }
    config.store.location.settle_paths(&of_store);
    show("store", config.store.location.to_string());
}

impl Config {
    /// The defaults of a revision, with `data_dir` as the data directory.
    pub fn of_revision(revision: Revision, data_dir: PathBuf) -> Self {
        let origin = ValueOrigin::Default(revision);
        let mut given = [("revision", Given { values: vec![revision.number().to_string()], origin })].into();
        fill(&mut given);
        read(given, data_dir)
    }

    /// The settings that [`Config::in_effect`] told. What this version does not know or take is at its default.
    pub fn from_in_effect(told: &[SettingInEffect]) -> Self {
        let mut layers = Layers::default();
        for entry in told {
            if Setting::find(&entry.key).is_some_and(|setting| layers.read(setting, &entry.values).is_ok()) {
                layers.add(&entry.key, entry.values.clone(), ValueOrigin::Flag);
            }
        }
        fill(&mut layers.given);
        let data_dir = layers.given["data-dir"].values.concat().into();
        read(layers.given, data_dir)
    }
}

/// Reads every source, flags before environment before file before defaults, and checks the whole.
///
/// A bad value is an error also where a stronger source overrides it. All problems are reported at once.
pub fn load(sources: &Sources) -> Result<Loaded, ConfigError> {
    let uname = rustix::system::uname();
    let name = uname.nodename().to_str().unwrap_or_default();
    load_on(&Machine { config_file: Path::new(SYSTEM_CONFIG_FILE), name }, sources)
}

/// Checks the file that is called `path` as [`load`] does, without flags, environment or another file.
pub fn check_file(path: &Path, file: io::Result<impl Read>) -> Result<Loaded, ConfigError> {
    // A file need not name a data directory, and nothing looks at this one.
    let env = [("STATE_DIRECTORY".to_owned(), "/".to_owned())].into();
    read_all("", &Sources { env, ..Sources::default() }, Some((path, file)))
}

fn load_on(machine: &Machine<'_>, sources: &Sources) -> Result<Loaded, ConfigError> {
    let path = config_file(machine, sources);
    read_all(machine.name, sources, path.as_deref().map(|path| (path, File::open(path))))
}

fn read_all(
    name: &str,
    sources: &Sources,
    file: Option<(&Path, io::Result<impl Read>)>,
) -> Result<Loaded, ConfigError> {
    let path = file.as_ref().map(|(path, _)| path.to_path_buf());
    let mut layers = layers(file, sources);
    let admin_token = admin_token(sources, &mut layers.problems);
    let named = layers.given.get("data-dir").map(|given| PathBuf::from(given.values.concat()));
    let data_dir = sources.data_dir.clone().or(named).or_else(|| paths::default_data_dir(&sources.env));
    if data_dir.is_none() {
        layers.problems.push(ConfigProblem::NoDataDir);
    }
    let Layers { mut given, mut problems, mut warnings, .. } = layers;
    // Of values that are partly wrong a contradiction may be no more than an echo.
    if let Some(data_dir) = data_dir.filter(|_| problems.is_empty()) {
        fill(&mut given);
        let mut config = read(given, data_dir);
        config.admin_token = admin_token;
        settle_paths(&mut config);
        check::derive(&mut config, name);
        let contradictions = check::contradictions(&config);
        if contradictions.is_empty() {
            warnings.extend(probable_mistakes(&config, sources));
            return Ok(Loaded { config, file: path, warnings });
        }
        problems.extend(contradictions.iter().map(|(key, what)| ConfigProblem::of(key, &config.origin(key), what)));
    }
    // The file is read from the top down; what is not about the file comes after it.
    problems.sort_by_key(|problem| problem.line().unwrap_or(usize::MAX));
    Err(ConfigError { problems })
}

fn config_file(machine: &Machine<'_>, sources: &Sources) -> Option<PathBuf> {
    let variable = sources.env.get("TEMPMAIL_CONFIG").filter(|path| !path.is_empty()).map(Path::new);
    let user = paths::user_config_file(&sources.env);
    let usual = user.as_deref().into_iter().chain([machine.config_file]);
    file::find(sources.config_file.as_deref().or(variable), usual).map(Path::to_owned)
}

fn admin_token(sources: &Sources, problems: &mut Vec<ConfigProblem>) -> Option<Secret> {
    let text = sources.env.get(ADMIN_TOKEN).filter(|text| !text.is_empty())?;
    if text.len() < ADMIN_TOKEN_OCTETS_MIN || !text.bytes().all(|octet| octet.is_ascii_graphic()) {
        let text = format!(
            "{ADMIN_TOKEN}: a token has at least {ADMIN_TOKEN_OCTETS_MIN} visible ASCII characters; `openssl rand -hex 32` makes one"
        );
        problems.push(ConfigProblem::Wrong { line: None, text });
    }
    Secret::new(text.clone())
}

fn probable_mistakes(config: &Config, sources: &Sources) -> Vec<String> {
    let is_known = |name: &str| OTHER_VARIABLES.contains(&name) || keys().any(|key| variable(key) == name);
    let set = sources.env.iter().filter(|(_, value)| !value.is_empty()).map(|(name, _)| name.as_str());
    // The prefix is compared apart: it alone would make every name look like every other.
    let unknown = set.filter(|name| !is_known(name)).filter_map(|name| Some((name, name.strip_prefix("TEMPMAIL_")?)));
    let mut warnings: Vec<String> = unknown
        .map(|(name, rest)| format!("{name} is set, but there is no such setting{}", did_you_mean(rest, variable)))
        .collect();
    if !config.domains.public_addresses.is_empty() && config.domains.mx_hosts.is_empty() {
        warnings.push("public-address has no effect without an mx-host".to_owned());
    }
    if !config.http.is_local() && config.http.allowed_hosts.is_empty() {
        warnings.push(
            "HTTP listens beyond loopback and answers for any Host, so web sites may read mail through the browsers of \
             people who visit them; set http-allowed-hosts and http-allowed-origins"
                .to_owned(),
        );
    }
    warnings
}

#[cfg(test)]
mod tests;
