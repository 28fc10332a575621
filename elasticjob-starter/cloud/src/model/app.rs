//! An application: a package, the resources that its process needs, and the script that starts it.

use std::collections::BTreeMap;
use std::fmt;
use std::net::IpAddr;

use elasticjob::config::Message;
use elasticjob::ident::JobName;
use reqwest::Url;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::description::MOST_TEXT;
use super::fields::{Fields, Problem, Problems};
use super::secrets::MASK;
use super::slurm::SlurmSettings;
use crate::texts;

/// An application. It has one job or several.
///
/// Its JSON is that of ElasticJob-Cloud, with the additions `image`, `env` and `slurm`. Valid by construction: read it with
/// [`from_json`](Self::from_json).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", try_from = "Value")]
#[non_exhaustive]
pub struct App {
    /// The name, unique in the namespace. It can be what the name of a job can be.
    pub app_name: String,
    /// The place of the package: `file:` or `https:` (an archive, or a single script), or `oci://registry/name:tag` for an
    /// image. `#sha256=HEX` at its end has the package checked.
    #[serde(rename = "appURL")]
    pub app_url: String,
    /// The command that starts it, for a shell in the folder of the unpacked package.
    pub bootstrap_script: String,
    /// The CPUs that a process of the application needs beside those of its items. Default 1.
    pub cpu_count: f64,
    /// The memory in MB that a process of the application needs beside that of its items. Default 128.
    #[serde(rename = "memoryMB")]
    pub memory_mb: f64,
    /// Whether a package that was fetched is kept for later runs. Default true.
    pub app_cache_enable: bool,
    /// Of so many runs of a `DAEMON` job one is traced; 0 and 1: each. Default 0.
    pub event_trace_sampling_count: u32,
    /// The image in which the package runs, for carriers that run images.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub image: Option<String>,
    /// Environment variables of its processes.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub env: BTreeMap<String, String>,
    /// The options of the submission of its processes, for the carrier `SLURM`.
    #[serde(skip_serializing_if = "SlurmSettings::is_empty")]
    pub slurm: SlurmSettings,
}

impl App {
    /// Reads an application.
    ///
    /// # Errors
    /// [`Problems`] with everything that is wrong.
    pub fn from_json(value: Value) -> Result<Self, Problems> {
        let mut fields = Fields::of(value, "app")?;
        let mut wrong = Vec::new();
        let app = Self {
            app_name: fields.required("appName", "my_app"),
            app_url: fields.required("appURL", "https://apps.example.com/my_app.tar.gz"),
            bootstrap_script: fields.required("bootstrapScript", "bin/start.sh"),
            cpu_count: fields.amount("cpuCount", 0.0).unwrap_or(1.0),
            memory_mb: fields.amount("memoryMB", 0.0).unwrap_or(128.0),
            app_cache_enable: fields.flag("appCacheEnable", true),
            event_trace_sampling_count: fields.count("eventTraceSamplingCount", 0, i32::MAX as u32).unwrap_or(0),
            image: fields.text("image"),
            env: fields.texts("env"),
            slurm: SlurmSettings::of(fields.texts("slurm"), |field, reason| wrong.push((field, reason))),
        };
        wrong.into_iter().for_each(|(field, reason)| fields.wrong(&field, reason));
        if !app.app_name.is_empty()
            && let Err(error) = JobName::new(app.app_name.clone())
        {
            fields.wrong("appName", error.message().clone());
        }
        if !app.app_url.is_empty()
            && let Err(reason) = app.source()
        {
            fields.wrong("appURL", reason);
        }
        wrong_variables(&app.env).for_each(|(field, reason)| fields.wrong(&field, reason));
        if app.bootstrap_script.len() > MOST_TEXT {
            fields.wrong("bootstrapScript", texts::text_too_long(app.bootstrap_script.len(), MOST_TEXT));
        }
        fields.end(app)
    }

    /// The place of the package.
    ///
    /// # Errors
    /// The text says why `appURL` names none.
    pub fn source(&self) -> Result<Source, Message> {
        Source::parse(&self.app_url)
    }
}

impl TryFrom<Value> for App {
    type Error = Problems;

    fn try_from(value: Value) -> Result<Self, Problems> {
        Self::from_json(value)
    }
}

/// The variables whose names no shell accepts, that are set for each item, or that no process can be given.
pub(super) fn wrong_variables(env: &BTreeMap<String, String>) -> impl Iterator<Item = (String, Message)> + '_ {
    env.iter().filter_map(|(name, value)| {
        let is_name = name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
            && !name.starts_with(|first: char| first.is_ascii_digit());
        let reason = match () {
            () if name.is_empty() || !is_name => texts::variable_name(),
            () if name.starts_with("ELASTICJOB_") => texts::variable_of_item(),
            () if value.contains('\0') => texts::variable_nul(),
            () if name.len() + 1 + value.len() > MOST_TEXT => {
                texts::text_too_long(name.len() + 1 + value.len(), MOST_TEXT)
            }
            () => return None,
        };
        Some((format!("env.{name}"), reason))
    })
}

/// The place of a package.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Source {
    /// The way in which it is reached.
    pub scheme: SourceScheme,
    /// The address without the checksum; a path where the scheme is [`File`](SourceScheme::File), the name of the image where
    /// it is [`Oci`](SourceScheme::Oci).
    pub address: String,
    /// The SHA-256 that the package has to have, in lower-case hexadecimal digits.
    pub sha256: Option<String>,
}

/// The way in which a package is reached. Later releases may have other ways: a carrier refuses those that it does not have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum SourceScheme {
    /// A file of the host.
    File,
    /// A web server.
    Web,
    /// A registry of images.
    Oci,
}

impl Source {
    pub(crate) fn parse(url: &str) -> Result<Self, Message> {
        let (address, fragment) = match url.split_once('#') {
            Some((address, fragment)) => (address, Some(fragment)),
            None => (url, None),
        };
        let shown = shown(url);
        if url.contains(&format!("//{MASK}@")) || url.contains(&format!("?{MASK}")) {
            return Err(texts::address_masked(url));
        }
        let sha256 = fragment.map(checksum).transpose()?;
        let (scheme, address) = if let Some(path) = address.strip_prefix("file:") {
            let path = path.strip_prefix("//").unwrap_or(path);
            if !path.starts_with('/') {
                return Err(texts::address_relative(shown));
            }
            (SourceScheme::File, path)
        } else if address.starts_with("https://") || address.starts_with("http://") {
            let parsed = Url::parse(address).map_err(|error| texts::address_wrong(&shown, error.to_string()))?;
            if parsed.scheme() == "http" && sha256.is_none() && !is_loopback(&parsed) {
                return Err(texts::address_unsafe(shown));
            }
            (SourceScheme::Web, address)
        } else if let Some(image) = address.strip_prefix("oci://") {
            (SourceScheme::Oci, image)
        } else {
            return Err(texts::address_unknown(shown));
        };
        Ok(Self { scheme, address: address.to_owned(), sha256 })
    }

    /// The last part of the address: the name of the file.
    pub fn file_name(&self) -> &str {
        let path = self.address.split(['?', '#']).next().unwrap_or_default();
        path.rsplit('/').next().filter(|name| !name.is_empty()).unwrap_or("app")
    }
}

/// Whether an address of a web server is one of this host.
pub(crate) fn is_loopback(address: &Url) -> bool {
    let host = address.host_str().unwrap_or_default();
    let number = host.strip_prefix('[').and_then(|host| host.strip_suffix(']')).unwrap_or(host);
    host == "localhost" || number.parse().is_ok_and(|number: IpAddr| number.is_loopback())
}

/// An address without what may be credentials: the user, and the query, which is where signed addresses have the signature.
pub(crate) fn shown(url: &str) -> String {
    let (address, fragment) = url.split_at(url.find('#').unwrap_or(url.len()));
    let Some((scheme, rest)) = address.split_once("://").filter(|(scheme, _)| *scheme != "file") else {
        return url.to_owned();
    };
    let (rest, query) = match rest.split_once('?') {
        Some((rest, _)) => (rest, format!("?{MASK}")),
        None => (rest, String::new()),
    };
    let (host, path) = rest.split_at(rest.find(['/', '\\']).unwrap_or(rest.len()));
    let host = host.rsplit_once('@').map_or_else(|| host.to_owned(), |(_, host)| format!("{MASK}@{host}"));
    format!("{scheme}://{host}{path}{query}{fragment}")
}

fn checksum(fragment: &str) -> Result<String, Message> {
    let digits = fragment.strip_prefix("sha256=").map(str::to_ascii_lowercase);
    let is_checksum = |digits: &String| digits.len() == 64 && digits.bytes().all(|byte| byte.is_ascii_hexdigit());
    digits.filter(is_checksum).ok_or_else(|| texts::checksum_wrong(fragment))
}

/// For operators: without credentials.
impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.scheme {
            SourceScheme::Web => f.write_str(&shown(&self.address)),
            SourceScheme::File | SourceScheme::Oci => f.write_str(&self.address),
        }
    }
}

/// The problem of an application that a carrier which runs no images cannot carry.
pub(crate) fn needs_image(app: &App, carrier: &str) -> Option<Problem> {
    let source = app.source().ok()?;
    (source.scheme == SourceScheme::Oci).then(|| Problem::new("appURL", texts::runs_no_image(carrier)))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_application_of_the_manual_is_accepted_and_has_the_documented_defaults() {
        let app = json!({ "appName": "my_app", "appURL": "https://app_host:8080/my-job.tar.gz", "bootstrapScript": "bin/start.sh" });
        let app = App::from_json(app).unwrap();
        let defaults = (app.cpu_count, app.memory_mb, app.app_cache_enable, app.event_trace_sampling_count);
        assert_eq!(defaults, (1.0, 128.0, true, 0));
        let again: App = serde_json::from_value(serde_json::to_value(&app).unwrap()).unwrap();
        assert_eq!(again, app);
    }

    #[test]
    fn all_mistakes_are_told_at_once() {
        let app = json!({ "appname": "x", "appURL": "ftp://host/a", "cpuCount": "many", "memoryMB": -1, "env": { "1A": "x", "ELASTICJOB_X": "y" } });
        let Problems(problems) = App::from_json(app).unwrap_err();
        let told: Vec<&str> = problems.iter().map(|problem| problem.field.as_str()).collect();
        for field in
            ["appName", "bootstrapScript", "cpuCount", "memoryMB", "appURL", "env.1A", "env.ELASTICJOB_X", "appname"]
        {
            assert!(told.contains(&field), "{field} is not among {told:?}");
        }
        assert!(Problems(problems).to_string().contains("appname: there is no such field: write `appName`"));
    }

    #[test]
    fn places_of_packages() {
        let sum = "A".repeat(64);
        let place = |url: &str| Source::parse(url).map(|source| (source.scheme, source.address, source.sha256));
        assert_eq!(place("file:///opt/a.sh"), Ok((SourceScheme::File, "/opt/a.sh".into(), None)));
        assert_eq!(place("oci://r/a:1"), Ok((SourceScheme::Oci, "r/a:1".into(), None)));
        let checked = place(&format!("http://host/a.tar#sha256={sum}")).unwrap();
        assert_eq!(checked, (SourceScheme::Web, "http://host/a.tar".into(), Some("a".repeat(64))));
        assert!(place("http://localhost:1/a").is_ok() && place("https://host/a").is_ok());
        for (wrong, why) in
            [("http://host/a", "use https"), ("file:a", "absolute path"), ("https://h/a#md5=1", "no checksum")]
        {
            assert!(place(wrong).unwrap_err().as_str().contains(why), "{wrong}");
        }
        assert_eq!(Source::parse("https://host/x/a.tar.gz?v=1").unwrap().file_name(), "a.tar.gz");
    }

    #[test]
    fn only_addresses_of_this_host_are_taken_without_https_and_checksum() {
        for own in [
            "http://localhost/x",
            "http://127.0.0.1:80/x",
            "http://127.9.9.9/x",
            "http://[::1]/x",
            "http://[::1]:8080/x",
        ] {
            assert!(Source::parse(own).is_ok(), "{own}");
        }
        for other in [
            "http://localhost:80@evil/x",
            "http://127.0.0.1:80@evil/x",
            "http://localhost.evil/x",
            "http://evil/?http://localhost/x",
            "http://[::2]/x",
            "http://evil\\@localhost/x",
        ] {
            assert!(Source::parse(other).unwrap_err().as_str().contains("use https"), "{other}");
        }
        assert!(Source::parse("http://[::1/x").unwrap_err().as_str().contains("no address"));
    }

    #[test]
    fn the_credentials_of_an_address_are_not_shown() {
        let shown = |url: &str| Source::parse(url).unwrap().to_string();
        assert_eq!(shown("https://user:pass@host/a.tar"), "https://***@host/a.tar");
        assert_eq!(shown("https://token@host:8443/a.tar"), "https://***@host:8443/a.tar");
        assert_eq!(shown("https://host/a.tar?sig=s3cret&v=1"), "https://host/a.tar?***");
        assert_eq!(shown("https://host/a.tar"), "https://host/a.tar");
        assert_eq!(shown("file:///opt/a@b?c.tar"), "/opt/a@b?c.tar");
        let wrong = Source::parse("http://user:pass@host/a.tar").unwrap_err();
        assert!(wrong.as_str().contains("http://***@host/a.tar") && !wrong.as_str().contains("pass@"), "{wrong}");
        let masked = Source::parse("https://***@host/b.tar").unwrap_err();
        assert!(masked.as_str().contains("mask"), "{masked}");
    }
}
