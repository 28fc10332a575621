//! The section `elasticjob.console`.

use std::collections::BTreeMap;
use std::net::IpAddr;

use elasticjob::secret::Secret;

use super::error::SettingError;
use super::load::filled;
use super::node::Origin;
use super::read::{Reader, parse_flag};
use super::schema::{Key, hint};

/// What a user has.
const OF_USER: [&str; 4] = ["password-hash", "role", "registries", "jobs"];

/// `elasticjob.console`: the web console.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct ConsoleSettings {
    /// `port` of the console in the program of the jobs; 0 means any free port, `None` no console there.
    pub port: Option<u16>,
    /// The place of the port, or of the section.
    pub origin: Origin,
    /// `address`: the address to listen on. Default: loopback.
    pub address: IpAddr,
    /// `base-path`; empty for none.
    pub base_path: String,
    /// `read-only`: nobody may change anything.
    pub read_only: bool,
    /// `language`: `en` or `zh-CN`.
    pub language: String,
    /// `secure-cookies`: cookies are sent by HTTPS alone.
    pub secure_cookies: bool,
    /// `anonymous`: the role of visitors who did not log in.
    pub anonymous: Option<String>,
    /// `users`, by name.
    pub users: BTreeMap<String, ConsoleUser>,
}

/// Somebody who may log in to the console.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ConsoleUser {
    /// The place of the first setting of the user.
    pub origin: Origin,
    /// `password-hash`.
    pub password_hash: Secret,
    /// `role`.
    pub role: String,
    /// `registries`: the registry centers for which the role counts; `*` stands for any characters.
    pub registries: String,
    /// `jobs`: the jobs for which the role counts; `*` stands for any characters.
    pub jobs: String,
}

pub(super) fn read(reader: &mut Reader<'_>) -> ConsoleSettings {
    let section = Key::of(["console"]);
    let port = section.child("port");
    let place = reader.origin(&port).or_else(|| reader.origin(&section));
    ConsoleSettings {
        port: reader.whole(&port),
        origin: place.unwrap_or_else(|| Origin::place("settings")),
        address: reader.or_default(&section.child("address"), |text| text.parse().ok()),
        base_path: filled(reader.text(&section.child("base-path"))).unwrap_or_default(),
        read_only: reader.or_default(&section.child("read-only"), parse_flag),
        language: reader.or_default(&section.child("language"), |text| Some(text.to_owned())),
        secure_cookies: reader.or_default(&section.child("secure-cookies"), parse_flag),
        anonymous: filled(reader.text(&section.child("anonymous"))),
        users: users(reader, &section.child("users")),
    }
}

/// A user, and one of the settings. An environment variable has a dot in the place of a dash.
fn of_user(name: &str) -> Option<(&str, &'static str)> {
    OF_USER.into_iter().find_map(|setting| {
        let user = name.strip_suffix(setting).or_else(|| name.strip_suffix(&setting.replace('-', ".")))?;
        user.strip_suffix('.').filter(|user| !user.is_empty()).map(|user| (user, setting))
    })
}

/// Users are read from keys `NAME.SETTING`, so that no name of a user can clash with a setting.
fn users(reader: &mut Reader<'_>, section: &Key) -> BTreeMap<String, ConsoleUser> {
    let mut given: BTreeMap<String, (Origin, BTreeMap<&str, String>)> = BTreeMap::new();
    for (name, origin) in reader.names(section) {
        let Some((user, setting)) = of_user(&name) else {
            let key = section.child(&name).to_string();
            let setting = name.rsplit_once('.').map_or(name.as_str(), |(_, setting)| setting);
            reader.errors.push(SettingError::UnknownKey { origin, key, hint: hint(setting, OF_USER) });
            continue;
        };
        let Some(text) = reader.text(&section.child(&name)) else { continue };
        let (_, settings) = given.entry(user.to_owned()).or_insert_with(|| (origin, BTreeMap::new()));
        settings.insert(setting, text.value);
    }
    let mut users = BTreeMap::new();
    for (name, (origin, mut settings)) in given {
        let user = section.child(&name);
        let mut required = |setting: &str, remedy: &str| {
            let value = settings.remove(setting).filter(|text| !text.trim().is_empty());
            if value.is_none() {
                reader.missing(origin.clone(), &user.child(setting), remedy);
            }
            value
        };
        let hash = required("password-hash", "write the output of `elasticjob console hash-password`");
        let role = required("role", "write viewer, operator, editor or admin");
        let (Some(hash), Some(role)) = (hash, role) else { continue };
        let mut pattern = |setting: &str| settings.remove(setting).unwrap_or_else(|| "*".to_owned());
        let (registries, jobs) = (pattern("registries"), pattern("jobs"));
        users.insert(name, ConsoleUser { origin, password_hash: hash.into(), role, registries, jobs });
    }
    users
}
