//! Names whose values are secrets. One list decides which values are not written and which are not shown.

/// Words that make a name the name of a secret, in the spelling of [`plain`].
const WORDS: [&str; 14] = [
    "password",
    "passwd",
    "pwd",
    "passphrase",
    "secret",
    "webhook",
    "token",
    "credential",
    // The end of a name counts, and these end differently from the words that they begin with.
    "credentials",
    "secretkey",
    "accesskey",
    "accountkey",
    "apikey",
    "privatekey",
];

/// Words of names whose values are masked to be safe, but written all the same. A digest is usually a checksum, and the
/// body of a request is not a secret, though it may contain one. All instances of a job, including Java instances, need
/// these values.
const IN_DOUBT: [&str; 6] = ["digest", "httpdata", "cookie", "signature", "jwt", "authorization"];

/// Words for the secret of a login. After such a word a colon introduces a secret also in the middle of a sentence.
/// `invalid token: expected a word` is about a grammar instead.
const PASSWORDS: [&str; 4] = ["password", "passwd", "pwd", "passphrase"];

/// Names that are too short to be searched for inside of other names.
const WHOLE: [&str; 1] = ["pass"];

/// Names that mean a secret in the query of an address, but usually not elsewhere.
const OF_QUERIES: [&str; 5] = ["key", "sig", "sign", "auth", "code"];

/// Whether a property stays with the program, and is never written to the registry: its name ends with such a word, as
/// `email.password`, `aws.credential` and `my.accessKey` do. A name that continues after the word, such as `token.uri`
/// or `password.file`, is about a secret and is not one. Such properties are written, so that all instances use the
/// same value.
pub(crate) fn stays_with_program(key: &str) -> bool {
    let key = plain(key);
    WORDS.iter().any(|word| key.ends_with(word))
}

/// Whether the value of a property is masked where it is shown, judged by its name: the name contains such a word, or
/// its value may contain secrets, as the body of a request may. It masks too much rather than too little.
pub fn is_secret_key(key: &str) -> bool {
    let key = plain(key);
    WORDS.iter().chain(&IN_DOUBT).any(|word| key.contains(word))
}

/// The same for a name inside of a text, where shorter names count, too.
pub(super) fn is_secret_name(name: &str) -> bool {
    /// No word is shorter, but many names are.
    const SHORTEST: usize = 3;
    let last = name.rsplit(|c: char| !c.is_ascii_alphanumeric()).next().unwrap_or_default();
    name.len() >= SHORTEST && (is_secret_key(name) || WHOLE.iter().any(|word| last.eq_ignore_ascii_case(word)))
}

/// Whether the parameter of an address is a secret.
pub(super) fn is_secret_of_query(name: &str) -> bool {
    is_secret_name(name) || OF_QUERIES.iter().any(|word| name.eq_ignore_ascii_case(word))
}

/// Whether a name is that of a password.
pub(super) fn is_password(name: &str) -> bool {
    let name = plain(name);
    PASSWORDS.iter().any(|word| name.ends_with(word))
}

/// Whether the whole value of a header with this name is secret, including blanks.
pub(super) fn is_secret_line(name: &str) -> bool {
    let name = plain(name);
    name.ends_with("authorization") || name.ends_with("cookie")
}

/// The form that all spellings of a name share.
fn plain(key: &str) -> String {
    key.chars().filter(char::is_ascii_alphanumeric).map(|c| c.to_ascii_lowercase()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_ends_as_a_secret_stays_with_the_program_and_is_masked() {
        for key in [
            "email.password",
            "dingtalk.secret",
            "wechat.webhook",
            "my.apiToken",
            "PASSWORD",
            "db.pwd",
            "db.passwd",
            "aws.credential",
            "aws-credentials",
            "api.accesskey",
            "api.access-key",
            "aws.secretAccessKey",
            "SECRET_KEY",
            "push.api_key",
            "tls.private-key",
            "tls.passphrase",
            "azure.accountKey",
        ] {
            assert!(stays_with_program(key) && is_secret_key(key), "{key}");
        }
    }

    #[test]
    fn what_is_about_a_secret_is_masked_and_written() {
        for key in [
            "password.file",
            "oauth.token.uri",
            "aws.access-key.id",
            "max.tokens",
            "content.digest",
            "http.data",
            "jwt",
        ] {
            assert!(!stays_with_program(key) && is_secret_key(key), "{key}");
        }
    }

    /// All properties of the built-in types except the four secrets and the body of requests.
    #[test]
    fn what_built_in_types_ask_for_otherwise_is_written_and_shown() {
        for key in [
            "streaming.process",
            "script.command.line",
            "script.timeout.milliseconds",
            "http.uri",
            "http.url",
            "http.method",
            "http.content.type",
            "http.connect.timeout.milliseconds",
            "http.read.timeout.milliseconds",
            "email.host",
            "email.port",
            "email.username",
            "email.from",
            "email.to",
            "email.cc",
            "email.bcc",
            "email.subject",
            "email.useSsl",
            "email.useStartTls",
            "email.ssl.trusted.certificates",
            "wechat.connectTimeoutMilliseconds",
            "wechat.readTimeoutMilliseconds",
            "dingtalk.keyword",
            "dingtalk.connectTimeoutMilliseconds",
            "dingtalk.readTimeoutMilliseconds",
        ] {
            assert!(!stays_with_program(key) && !is_secret_key(key), "{key}");
        }
    }
}
