//! The sections `elasticjob.console`, `elasticjob.console-users` and `elasticjob.console-tokens`.

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::path::PathBuf;

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
    /// `read-only`: no user may change anything.
    pub read_only: bool,
    /// `require-reason`: the console insists on reasons.
    pub require_reason: bool,
    /// `language`: `en` or `zh-CN`.
    pub language: String,
    /// `secure-cookies`: cookies are sent by HTTPS alone.
    pub secure_cookies: bool,
    /// `trusted-proxies`: addresses and ranges.
    pub trusted_proxies: Vec<String>,
    /// `allowed-hosts`: the names of the console for callers that show no secret.
    pub allowed_hosts: Vec<String>,
    /// `proxy-user-header`; `None` where proxies say nothing of callers.
    pub proxy_user_header: Option<String>,
    /// `proxy-groups-header`.
    pub proxy_groups_header: String,
    /// `max-streams`: how many streams of events may be open at a time.
    pub max_streams: usize,
    /// `max-streams-of-caller`: how many of them one caller may have.
    pub max_streams_of_caller: usize,
    /// `anonymous`: the role of visitors who did not log in.
    pub anonymous: Option<String>,
    /// `data`: the file that keeps what has to outlive the console; `None` for memory.
    pub data: Option<PathBuf>,
    /// `elasticjob.console-oidc`; `None` without an issuer.
    pub oidc: Option<ConsoleOidc>,
    /// `elasticjob.console-groups`: the name of the section, the group, and what its members may do.
    pub groups: Vec<(String, String, ConsoleGrant)>,
    /// `elasticjob.console-users`, by name.
    pub users: BTreeMap<String, ConsoleUser>,
    /// `elasticjob.console-tokens`, by name.
    pub tokens: BTreeMap<String, ConsoleToken>,
    /// The places of the settings that are given, by name.
    pub(crate) origins: BTreeMap<&'static str, Origin>,
}

impl ConsoleSettings {
    /// The place of a setting, else that of the section.
    pub(crate) fn place(&self, setting: &str) -> &Origin {
        self.origins.get(setting).unwrap_or(&self.origin)
    }
}

/// `elasticjob.console-oidc`: logins with the accounts of a company.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ConsoleOidc {
    /// The place of the issuer.
    pub origin: Origin,
    /// `issuer`.
    pub issuer: String,
    /// `client-id`.
    pub client_id: String,
    /// `client-secret`; `None` for a public client.
    pub client_secret: Option<Secret>,
    /// `public-url`: the address of the console in browsers.
    pub public_url: String,
    /// The place of that address.
    pub public_url_origin: Origin,
    /// `scopes`.
    pub scopes: Vec<String>,
    /// `groups-claim`.
    pub groups_claim: String,
}

/// A user who may log in to the console.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ConsoleUser {
    /// The place of the hash.
    pub origin: Origin,
    /// `password-hash`.
    pub password_hash: Secret,
    /// The rights of the user.
    pub grant: ConsoleGrant,
}

/// A program that may call the console.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ConsoleToken {
    /// The place of the hash.
    pub origin: Origin,
    /// `token-hash`.
    pub token_hash: Secret,
    /// The rights of the program.
    pub grant: ConsoleGrant,
    /// `expires`: when the token counts no more; `None` for never.
    pub expires: Option<String>,
    /// The place of `expires`.
    pub(crate) expires_origin: Origin,
}

/// The rights of a user or a program.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ConsoleGrant {
    /// The place of the role.
    pub(crate) role_origin: Origin,
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
    let places = [
        "port",
        "address",
        "base-path",
        "language",
        "anonymous",
        "data",
        "trusted-proxies",
        "allowed-hosts",
        "proxy-user-header",
        "proxy-groups-header",
    ];
    let place_of = |name| Some((name, reader.origin(&section.child(name))?));
    let origins = places.into_iter().filter_map(place_of).collect();
    ConsoleSettings {
        origins,
        port: reader.whole(&port),
        origin: place.unwrap_or_else(|| Origin::place("settings")),
        address: reader.or_default(&section.child("address"), |text| text.parse().ok()),
        base_path: filled(reader.text(&section.child("base-path"))).unwrap_or_default(),
        read_only: reader.or_default(&section.child("read-only"), parse_flag),
        require_reason: reader.or_default(&section.child("require-reason"), parse_flag),
        language: reader.or_default(&section.child("language"), |text| Some(text.to_owned())),
        secure_cookies: reader.or_default(&section.child("secure-cookies"), parse_flag),
        anonymous: filled(reader.text(&section.child("anonymous"))),
        data: filled(reader.text(&section.child("data"))).map(PathBuf::from),
        trusted_proxies: parts(&filled(reader.text(&section.child("trusted-proxies"))).unwrap_or_default()),
        allowed_hosts: parts(&filled(reader.text(&section.child("allowed-hosts"))).unwrap_or_default()),
        proxy_user_header: filled(reader.text(&section.child("proxy-user-header"))),
        proxy_groups_header: reader.or_default(&section.child("proxy-groups-header"), |text| Some(text.to_owned())),
        max_streams: reader.whole_or_default(&section.child("max-streams")),
        max_streams_of_caller: reader.whole_or_default(&section.child("max-streams-of-caller")),
        oidc: oidc(reader),
        groups: groups(reader, &Key::of(["console-groups"])),
        users: users(reader, &Key::of(["console-users"])),
        tokens: tokens(reader, &Key::of(["console-tokens"])),
    }
}

fn groups(reader: &mut Reader<'_>, section: &Key) -> Vec<(String, String, ConsoleGrant)> {
    let mut groups = Vec::new();
    for (name, origin) in reader.names(section) {
        let mut of = Caller { reader: &mut *reader, key: section.child(&name), origin };
        let group = filled(of.reader.text(&of.key.child("group"))).unwrap_or_else(|| name.clone());
        if let Some(grant) = of.grant() {
            groups.push((name, group, grant));
        }
    }
    groups
}

/// The parts of a list with commas.
fn parts(list: &str) -> Vec<String> {
    list.split(',').map(|part| part.trim().to_owned()).filter(|part| !part.is_empty()).collect()
}

fn oidc(reader: &mut Reader<'_>) -> Option<ConsoleOidc> {
    let key = Key::of(["console-oidc"]);
    let issuer_key = key.child("issuer");
    let issuer = filled(reader.text(&issuer_key));
    let origin = reader.origin(&issuer_key).or_else(|| reader.origin(&key));
    let scopes = reader.or_default(&key.child("scopes"), |text| Some(text.to_owned()));
    let groups_claim = reader.or_default(&key.child("groups-claim"), |text| Some(text.to_owned()));
    let client_secret = filled(reader.text(&key.child("client-secret"))).map(Secret::from);
    let (issuer, origin) = (issuer?, origin.unwrap_or_else(|| Origin::place("settings")));
    let mut of = Caller { reader, key, origin: origin.clone() };
    let client_id = of.required("client-id", "write the name that the issuer gave the console");
    let public_url = of.required("public-url", "write the address of the console in browsers: https://HOST/PATH");
    let public_url_origin = of.place("public-url");
    let (client_id, public_url) = (client_id?, public_url?);
    Some(ConsoleOidc {
        origin,
        issuer,
        client_id,
        client_secret,
        public_url,
        public_url_origin,
        scopes: parts(&scopes),
        groups_claim,
    })
}

fn users(reader: &mut Reader<'_>, section: &Key) -> BTreeMap<String, ConsoleUser> {
    let mut users = BTreeMap::new();
    for (name, origin) in reader.names(section) {
        let mut of = Caller { reader: &mut *reader, key: section.child(&name), origin };
        let hash = of.required("password-hash", "write the output of `elasticjob console hash-password`");
        if let (Some(hash), Some(grant)) = (hash, of.grant()) {
            let origin = of.place("password-hash");
            users.insert(name, ConsoleUser { origin, password_hash: hash.into(), grant });
        }
    }
    users
}

fn tokens(reader: &mut Reader<'_>, section: &Key) -> BTreeMap<String, ConsoleToken> {
    let mut tokens = BTreeMap::new();
    for (name, origin) in reader.names(section) {
        let mut of = Caller { reader: &mut *reader, key: section.child(&name), origin };
        let hash = of.required("token-hash", "write the hash that `elasticjob console new-token` prints");
        let (grant, expires) = (of.grant(), filled(of.reader.text(&of.key.child("expires"))));
        if let (Some(hash), Some(grant)) = (hash, grant) {
            let (origin, expires_origin) = (of.place("token-hash"), of.place("expires"));
            tokens.insert(name, ConsoleToken { origin, token_hash: hash.into(), grant, expires, expires_origin });
        }
    }
    tokens
}

/// The settings of a user or a token.
struct Caller<'r, 'n> {
    reader: &'r mut Reader<'n>,
    key: Key,
    origin: Origin,
}

impl Caller<'_, '_> {
    fn required(&mut self, setting: &str, remedy: &str) -> Option<String> {
        let key = self.key.child(setting);
        let value = filled(self.reader.text(&key));
        if value.is_none() {
            self.reader.missing(self.origin.clone(), &key, remedy);
        }
        value
    }

    fn grant(&mut self) -> Option<ConsoleGrant> {
        let role = self.required("role", "write viewer, operator, editor or admin");
        let mut pattern =
            |setting: &str| self.reader.or_default(&self.key.child(setting), |text| Some(text.to_owned()));
        let (registries, jobs) = (pattern("registries"), pattern("jobs"));
        Some(ConsoleGrant { role_origin: self.place("role"), role: role?, registries, jobs })
    }

    fn place(&self, setting: &str) -> Origin {
        self.reader.origin(&self.key.child(setting)).unwrap_or_else(|| self.origin.clone())
    }
}
