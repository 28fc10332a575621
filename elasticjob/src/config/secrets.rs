//! Properties that are secrets: they stay with the program, and are never written to the registry.

/// How the names of such properties end.
const ENDINGS: [&str; 4] = ["password", "secret", "webhook", "token"];

/// Whether a property is a secret, by its name: `email.password`, `dingtalk.webhook`, `my.apiToken`.
pub(super) fn is_secret(key: &str) -> bool {
    let key = key.to_ascii_lowercase();
    ENDINGS.iter().any(|ending| key.ends_with(ending))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_end_of_the_name_tells() {
        assert!(
            ["email.password", "dingtalk.secret", "wechat.webhook", "my.apiToken", "PASSWORD"]
                .into_iter()
                .all(is_secret)
        );
        assert!(!["email.host", "password.file", "script.command.line"].into_iter().any(is_secret));
    }
}
