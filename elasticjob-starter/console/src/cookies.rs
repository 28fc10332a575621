//! The names of the cookies that belong to one console. A browser sends a cookie to all ports of a host: with one name two consoles
//! on a host would take the sessions of their readers from each other.

use std::sync::OnceLock;

/// Knows the port once the console listens. In a server of the user's own it does not.
#[derive(Debug, Default)]
pub(crate) struct Cookies {
    port: OnceLock<u16>,
}

impl Cookies {
    /// The console listens on this port.
    pub(crate) fn listens_on(&self, port: u16) {
        // A console listens once.
        self.port.set(port).ok();
    }

    /// The name that a cookie has here.
    pub(crate) fn named(&self, name: &str) -> String {
        match self.port.get() {
            Some(port) => format!("{name}_{port}"),
            None => name.to_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::sync::Arc;

    use axum::body::Body;
    use axum::extract::Request;
    use axum::http::StatusCode;
    use axum::http::header::{COOKIE, HeaderValue, SET_COOKIE};
    use elasticjob::registry::memory::MemoryRegistry;

    use crate::testing::{Answer, PASSWORD, call, form, login, request, with_users};
    use crate::{Console, ConsoleOptions, Registry};

    /// A browser: it sends its cookies to all ports of a host.
    #[derive(Default)]
    struct Browser(BTreeMap<String, String>);

    impl Browser {
        async fn ask(&mut self, console: &Console, mut request: Request<Body>) -> Answer {
            let cookies: Vec<String> = self.0.iter().map(|(name, value)| format!("{name}={value}")).collect();
            request.headers_mut().insert(COOKIE, HeaderValue::from_str(&cookies.join("; ")).expect("a value"));
            let answer = call(console, request).await;
            for set in answer.headers.get_all(SET_COOKIE) {
                let set = set.to_str().expect("a text");
                let (pair, rest) = set.split_once(';').expect("it has attributes");
                let (name, value) = pair.split_once('=').expect("a pair");
                match rest.contains("Max-Age=0") {
                    true => drop(self.0.remove(name)),
                    false => drop(self.0.insert(name.to_owned(), value.to_owned())),
                }
            }
            answer
        }
    }

    async fn listening(memory: &MemoryRegistry) -> Console {
        let registry = Registry::new("default", Arc::new(memory.connect()));
        let options = ConsoleOptions { listen: ([127, 0, 0, 1], 0).into(), ..with_users() };
        let listening = Console::new(options, [registry]).expect("the options are right").listen().await;
        listening.expect("a port is free").into_console()
    }

    #[tokio::test]
    async fn two_consoles_of_a_host_keep_their_readers_apart() {
        let memory = MemoryRegistry::new();
        let (one, other) = (listening(&memory).await, listening(&memory).await);
        let mut browser = Browser::default();
        let jobs = || request("GET", "/r/default/jobs", None);
        for console in [&one, &other] {
            assert_eq!(browser.ask(console, login("admin", PASSWORD, "/")).await.status, StatusCode::SEE_OTHER);
        }
        for console in [&one, &other] {
            assert_eq!(browser.ask(console, jobs()).await.status, StatusCode::OK);
        }
        // What one of them did is told by that one.
        browser.ask(&one, form("/r/default/jobs", "", &[("action", "enable")])).await;
        let told = "Select at least one job.";
        assert!(!browser.ask(&other, jobs()).await.body.contains(told));
        assert!(browser.ask(&one, jobs()).await.body.contains(told));
        browser.ask(&other, form("/logout", "", &[])).await;
        assert_eq!(browser.ask(&other, jobs()).await.status, StatusCode::SEE_OTHER);
        assert_eq!(browser.ask(&one, jobs()).await.status, StatusCode::OK);
    }

    #[tokio::test]
    async fn the_description_of_the_api_has_the_name_of_the_cookie() {
        let console = listening(&MemoryRegistry::new()).await;
        let mut browser = Browser::default();
        browser.ask(&console, login("admin", PASSWORD, "/")).await;
        let document = browser.ask(&console, request("GET", "/api/v1/openapi.json", None)).await.body;
        let document: serde_json::Value = serde_json::from_str(&document).expect("JSON");
        let name = &document["components"]["securitySchemes"]["session"]["name"];
        assert!(browser.0.contains_key(name.as_str().expect("a name")), "{name}: {:?}", browser.0.keys());
    }
}
