//! The sections `elasticjob.console` and `elasticjob.console-users`.

use std::collections::BTreeMap;
use std::net::IpAddr;

use elasticjob::secret::Secret;

use super::load::filled;
use super::node::Origin;
use super::read::{Reader, parse_flag};
use super::schema::Key;

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
    /// `elasticjob.console-users`, by name.
    pub users: BTreeMap<String, ConsoleUser>,
    /// The places of the settings that are given, by name.
    pub(crate) origins: BTreeMap<&'static str, Origin>,
}

impl ConsoleSettings {
    /// The place of a setting, else that of the section.
    pub(crate) fn place(&self, setting: &str) -> &Origin {
        self.origins.get(setting).unwrap_or(&self.origin)
    }
}

/// Somebody who may log in to the console.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ConsoleUser {
    /// The place of the hash.
    pub origin: Origin,
    /// The place of the role.
    pub(crate) role_origin: Origin,
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
    let places = ["port", "address", "base-path", "language", "anonymous"];
    let place_of = |name| Some((name, reader.origin(&section.child(name))?));
    let origins = places.into_iter().filter_map(place_of).collect();
    ConsoleSettings {
        origins,
        port: reader.whole(&port),
        origin: place.unwrap_or_else(|| Origin::place("settings")),
        address: reader.or_default(&section.child("address"), |text| text.parse().ok()),
        base_path: filled(reader.text(&section.child("base-path"))).unwrap_or_default(),
        read_only: reader.or_default(&section.child("read-only"), parse_flag),
        language: reader.or_default(&section.child("language"), |text| Some(text.to_owned())),
        secure_cookies: reader.or_default(&section.child("secure-cookies"), parse_flag),
        anonymous: filled(reader.text(&section.child("anonymous"))),
        users: users(reader, &Key::of(["console-users"])),
    }
}

fn users(reader: &mut Reader<'_>, section: &Key) -> BTreeMap<String, ConsoleUser> {
    let mut users = BTreeMap::new();
    for (name, origin) in reader.names(section) {
        let of = section.child(&name);
        let mut required = |setting: &str, remedy: &str| {
            let key = of.child(setting);
            let value = filled(reader.text(&key));
            if value.is_none() {
                reader.missing(origin.clone(), &key, remedy);
            }
            value
        };
        let hash = required("password-hash", "write the output of `elasticjob console hash-password`");
        let role = required("role", "write viewer, operator, editor or admin");
        let mut pattern = |setting: &str| reader.or_default(&of.child(setting), |text| Some(text.to_owned()));
        let (registries, jobs) = (pattern("registries"), pattern("jobs"));
        if let (Some(hash), Some(role)) = (hash, role) {
            let place = |setting: &str| reader.origin(&of.child(setting)).unwrap_or_else(|| origin.clone());
            let (origin, role_origin) = (place("password-hash"), place("role"));
            users.insert(name, ConsoleUser { origin, role_origin, password_hash: hash.into(), role, registries, jobs });
        }
    }
    users
}
