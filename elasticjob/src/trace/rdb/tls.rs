//! Translates the TLS parameters of a JDBC URL for the drivers of this program. Pure.

use super::source::Database;

/// The driver that a URL was written for: some parameters have different meanings.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Flavour {
    Postgres,
    MySql,
    MariaDb,
}

impl Flavour {
    pub(super) fn of(database: Database, scheme: &str) -> Option<Self> {
        match database {
            Database::Sqlite => None,
            Database::Postgres => Some(Self::Postgres),
            Database::MySql if scheme == "mariadb" => Some(Self::MariaDb),
            Database::MySql => Some(Self::MySql),
        }
    }

    /// Whether a parameter decides about TLS.
    pub(super) fn decides(self, name: &str) -> bool {
        self.own().contains(&name) || self.key_stores().contains(&name)
    }

    fn own(self) -> &'static [&'static str] {
        match self {
            Self::Postgres => &["ssl", "sslmode", "ssl-mode"],
            Self::MySql => &["sslMode", "sslmode", "ssl-mode", "useSSL", "requireSSL", "verifyServerCertificate"],
            Self::MariaDb => &[
                "sslMode",
                "sslmode",
                "ssl-mode",
                "useSSL",
                "useSsl",
                "trustServerCertificate",
                "disableSslHostnameVerification",
                "serverSslCert",
            ],
        }
    }

    /// Parameters for files and classes of Java that decide which servers are trusted. This program cannot read those
    /// files.
    fn key_stores(self) -> &'static [&'static str] {
        match self {
            Self::Postgres => &["sslpassword"],
            Self::MySql => &[
                "trustCertificateKeyStoreUrl",
                "trustCertificateKeyStorePassword",
                "trustCertificateKeyStoreType",
                "clientCertificateKeyStoreUrl",
                "clientCertificateKeyStorePassword",
                "clientCertificateKeyStoreType",
            ],
            Self::MariaDb => &[
                "trustStore",
                "trustStorePassword",
                "trustStoreType",
                "keyStore",
                "keyStorePassword",
                "keyStoreType",
                "keyPassword",
            ],
        }
    }

    /// Translates the parameters into parameters of the driver.
    ///
    /// # Errors
    /// The text says which parameter is not valid, and what to write instead.
    pub(super) fn translated(self, given: &[(&str, &str)]) -> Result<Vec<(&'static str, String)>, String> {
        if let Some((name, _)) = given.iter().find(|(name, _)| self.key_stores().contains(name)) {
            let instead = match self {
                Self::Postgres => "write the key without a password as PEM, and name it with sslkey",
                _ => "write the certificates as PEM, and name the files with ssl-ca, ssl-cert and ssl-key",
            };
            return Err(format!("'{name}' is about a key of Java, which cannot be read here: {instead}"));
        }
        let value = |names: &[&str]| given.iter().find(|(name, _)| names.contains(name)).copied();
        let flag = |names: &[&str]| value(names).map(|(name, value)| flag(name, value)).transpose();
        // As in the drivers of Java, a mode that is given goes before the older flags.
        let mode = match value(&["sslMode", "sslmode", "ssl-mode"]) {
            Some((name, mode)) => Some(self.mode(name, mode)?),
            None => match self {
                Self::Postgres => flag(&["ssl"])?.map(|ssl| if ssl { "verify-full" } else { "prefer" }),
                Self::MySql => {
                    let (verify, require) = (flag(&["verifyServerCertificate"])?, flag(&["requireSSL"])?);
                    match (flag(&["useSSL"])?, verify, require) {
                        (Some(false), ..) => Some("DISABLED"),
                        (_, Some(true), _) => Some("VERIFY_CA"),
                        (Some(true), ..) | (_, _, Some(true)) => Some("REQUIRED"),
                        _ => None,
                    }
                }
                Self::MariaDb => {
                    let trust = flag(&["trustServerCertificate"])?.unwrap_or(false);
                    let any_name = flag(&["disableSslHostnameVerification"])?.unwrap_or(false);
                    match flag(&["useSSL", "useSsl"])? {
                        Some(false) => Some("DISABLED"),
                        Some(true) if trust => Some("REQUIRED"),
                        Some(true) if any_name => Some("VERIFY_CA"),
                        Some(true) => Some("VERIFY_IDENTITY"),
                        None => None,
                    }
                }
            },
        };
        let name = if self == Self::Postgres { "sslmode" } else { "ssl-mode" };
        let certificate = value(&["serverSslCert"]).map(|(_, file)| ("ssl-ca", file.to_owned()));
        Ok(mode.map(|mode| (name, mode.to_owned())).into_iter().chain(certificate).collect())
    }

    fn mode(self, name: &str, mode: &str) -> Result<&'static str, String> {
        const POSTGRES: [&str; 6] = ["disable", "allow", "prefer", "require", "verify-ca", "verify-full"];
        const MYSQL: [&str; 5] = ["DISABLED", "PREFERRED", "REQUIRED", "VERIFY_CA", "VERIFY_IDENTITY"];
        /// The modes of the MariaDB driver.
        const MARIADB: [(&str, &str); 4] = [
            ("disable", "DISABLED"),
            ("trust", "REQUIRED"),
            ("verify-ca", "VERIFY_CA"),
            ("verify-full", "VERIFY_IDENTITY"),
        ];
        let known: &[&'static str] = if self == Self::Postgres { &POSTGRES } else { &MYSQL };
        let found = known.iter().copied().find(|known| known.eq_ignore_ascii_case(mode));
        let of_mariadb = || MARIADB.iter().find(|(known, _)| known.eq_ignore_ascii_case(mode)).map(|(_, mode)| *mode);
        let found = found.or_else(|| if self == Self::MariaDb { of_mariadb() } else { None });
        found.ok_or_else(|| format!("{name} is not known: expected one of {}", known.join(", ")))
    }
}

/// A flag without a value is set.
fn flag(name: &str, value: &str) -> Result<bool, String> {
    match value.to_ascii_lowercase().as_str() {
        "true" | "" => Ok(true),
        "false" => Ok(false),
        _ => Err(format!("{name}: expected true or false")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn translated(flavour: Flavour, query: &str) -> String {
        let given: Vec<(&str, &str)> =
            query.split('&').map(|pair| pair.split_once('=').unwrap_or((pair, ""))).collect();
        match flavour.translated(&given) {
            Ok(all) => all.iter().map(|(name, value)| format!("{name}={value}")).collect::<Vec<_>>().join("&"),
            Err(why) => why,
        }
    }

    #[test]
    fn each_driver_of_java_has_its_own_words() {
        use Flavour::{MariaDb, MySql, Postgres};
        for (flavour, jdbc, expected) in [
            (Postgres, "ssl=true", "sslmode=verify-full"),
            (Postgres, "ssl", "sslmode=verify-full"),
            (Postgres, "ssl=false", "sslmode=prefer"),
            (Postgres, "ssl=true&sslmode=require", "sslmode=require"),
            (Postgres, "sslmode=Verify-CA", "sslmode=verify-ca"),
            (MySql, "useSSL=false", "ssl-mode=DISABLED"),
            (MySql, "useSSL=true", "ssl-mode=REQUIRED"),
            (MySql, "useSSL=true&verifyServerCertificate=false", "ssl-mode=REQUIRED"),
            (MySql, "useSSL=true&verifyServerCertificate=true", "ssl-mode=VERIFY_CA"),
            (MySql, "verifyServerCertificate=true", "ssl-mode=VERIFY_CA"),
            (MySql, "verifyServerCertificate=true&useSSL=false", "ssl-mode=DISABLED"),
            (MySql, "requireSSL=true", "ssl-mode=REQUIRED"),
            (MySql, "useSSL=false&sslMode=VERIFY_IDENTITY", "ssl-mode=VERIFY_IDENTITY"),
            (MariaDb, "useSSL=true", "ssl-mode=VERIFY_IDENTITY"),
            (MariaDb, "useSsl=true&trustServerCertificate=true", "ssl-mode=REQUIRED"),
            (MariaDb, "useSSL=true&disableSslHostnameVerification=true", "ssl-mode=VERIFY_CA"),
            (MariaDb, "sslMode=verify-full&serverSslCert=ca.pem", "ssl-mode=VERIFY_IDENTITY&ssl-ca=ca.pem"),
            (MariaDb, "sslMode=trust", "ssl-mode=REQUIRED"),
        ] {
            assert_eq!(translated(flavour, jdbc), expected, "{flavour:?} {jdbc}");
        }
    }

    #[test]
    fn what_would_weaken_tls_unseen_is_an_error_by_name() {
        use Flavour::{MariaDb, MySql, Postgres};
        for (flavour, jdbc, expected) in [
            (Postgres, "ssl=on", "ssl: expected true or false"),
            (Postgres, "sslmode=strict", "sslmode is not known: expected one of disable"),
            (Postgres, "ssl=true&sslpassword=x", "'sslpassword' is about a key of Java"),
            (MySql, "verifyServerCertificate=1", "verifyServerCertificate: expected true or false"),
            (MySql, "sslMode=trust", "sslMode is not known: expected one of DISABLED"),
            (MySql, "trustCertificateKeyStoreUrl=file:a.jks", "name the files with ssl-ca"),
            (MariaDb, "trustStore=a.jks", "'trustStore' is about a key of Java"),
        ] {
            let said = translated(flavour, jdbc);
            assert!(said.contains(expected), "{flavour:?} {jdbc}: {said}");
        }
    }
}
