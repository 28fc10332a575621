//! Names whose values are secrets: one list for what is not written, and for what is not shown.

/// Words of such names. A blank stands where a word is made of two, which may be written apart: `access-key`, `accessKey`.
const WORDS: [&str; 13] = [
    "password",
    "passwd",
    "pwd",
    "passphrase",
    "secret",
    "webhook",
    "token",
    "credential",
    // They end in another way than the words that they begin with, and the end counts.
    "credentials",
    "secret key",
    "access key",
    "api key",
    "private key",
];

/// Words of names that are masked in doubt, and written nevertheless: a digest is mostly a checksum, and the body of a
/// request is no secret, though there may be one in it. All instances of a job, also those of Java, need to have them.
const IN_DOUBT: [&str; 2] = ["digest", "http data"];

/// Whether a property stays with the program, and is never written to the registry: its name ends with such a word, as
/// those of `email.password`, `aws.credential` and `my.accessKey` do. What goes on after the word is about a secret and
/// none itself, as `token.uri` and `password.file` are: written, so that all instances go by the same value.
pub(crate) fn stays_with_program(key: &str) -> bool {
    let key = plain(key);
    WORDS.iter().any(|word| key.ends_with(&plain(word)))
}

/// Whether the value of a property is masked where it is shown, judging by its name: such a word is anywhere in it, or
/// it may hold secrets, as the body of a request. Rather one too many.
pub fn is_secret_key(key: &str) -> bool {
    let key = plain(key);
    WORDS.iter().chain(&IN_DOUBT).any(|word| key.contains(&plain(word)))
}

/// The words as part of a pattern, case aside.
pub(super) fn pattern() -> String {
    let words: Vec<String> = WORDS.iter().chain(&IN_DOUBT).map(|word| word.replace(' ', "[_.-]?")).collect();
    format!("(?:{})", words.join("|"))
}

/// All spellings of a name are one.
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
        ] {
            assert!(stays_with_program(key) && is_secret_key(key), "{key}");
        }
    }

    #[test]
    fn what_is_about_a_secret_is_masked_and_written() {
        for key in
            ["password.file", "oauth.token.uri", "aws.access-key.id", "max.tokens", "content.digest", "http.data"]
        {
            assert!(!stays_with_program(key) && is_secret_key(key), "{key}");
        }
    }

    /// All properties of the built-in types but the four that are secrets, and the body of requests.
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
