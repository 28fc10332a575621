//! A headless Chromium with what it wrote to its console and which requests it made.

use std::net::TcpStream;
use std::path::Path;
use std::time::{Duration, Instant};

use elasticjob_tests::group::{TemporaryFolder, TestProcess};
use elasticjob_tests::{ports, programs};
use serde_json::{Value, json};
use thirtyfour::prelude::*;
use thirtyfour::{ChromiumLikeCapabilities, LoggingPrefsLogLevel};

use super::stage::{LIMIT, PASSWORD};

/// A request of the browser.
#[derive(Debug, Clone)]
pub struct Request {
    pub method: String,
    pub url: String,
}

/// The browser, at a console.
pub struct Chrome {
    pub driver: WebDriver,
    /// The address of the console, without a slash at its end.
    pub address: String,
    _chromedriver: TestProcess,
    _folder: TemporaryFolder,
}

impl Chrome {
    /// Starts it, in English.
    pub async fn start(address: &str) -> Self {
        let folder = TemporaryFolder::new("chrome").expect("a folder");
        let port = ports::free().expect("a free port");
        let program = programs::find("chromedriver", "chromium-driver").expect("it was looked for");
        let mut command = std::process::Command::new(program);
        command.arg(format!("--port={port}")).stdout(std::process::Stdio::null());
        let chromedriver = TestProcess::start(command, folder.path().join("chromedriver.log")).expect("it starts");
        let deadline = Instant::now() + LIMIT;
        while TcpStream::connect(("127.0.0.1", port)).is_err() {
            assert!(Instant::now() < deadline, "chromedriver does not listen\n{}", chromedriver.log());
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        // The client of chromedriver makes its TLS before it knows that it needs none. An error says that it is there.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let driver = WebDriver::new(format!("http://127.0.0.1:{port}"), capabilities(folder.path())).await;
        let driver = driver.unwrap_or_else(|error| panic!("no browser: {error}\n{}", chromedriver.log()));
        let chrome = Self { driver, address: address.to_owned(), _chromedriver: chromedriver, _folder: folder };
        chrome.set_width(1280).await;
        // Or colours are measured on their way from one theme to the other.
        let still = json!({ "features": [{ "name": "prefers-reduced-motion", "value": "reduce" }] });
        chrome.driver.cdp().send_raw("Emulation.setEmulatedMedia", still).await.expect("no motion");
        chrome
    }

    /// Ends it.
    pub async fn quit(self) {
        self.driver.quit().await.expect("it ends");
    }

    /// Logs in by the page.
    pub async fn log_in(&self, user: &str) {
        self.go("/login").await;
        for (field, text) in [("name", user), ("password", PASSWORD)] {
            let field = self.driver.find(By::Css(format!("main input[name={field}]"))).await.expect("a field");
            field.send_keys(text).await.expect("it is typed");
        }
        self.driver.find(By::Css("main form.login button")).await.expect("a button").click().await.expect("a click");
        let name = self.driver.find(By::Css("form[action$='/logout'] span")).await.expect("somebody is logged in");
        assert_eq!(name.text().await.expect("a text"), user);
    }

    /// Opens a path of the console.
    pub async fn go(&self, path: &str) {
        self.driver.goto(format!("{}{path}", self.address)).await.unwrap_or_else(|error| panic!("{path}: {error}"));
    }

    /// What a script returns.
    pub async fn eval(&self, script: &str) -> Value {
        let returned = self.driver.execute(script, vec![]).await;
        returned.unwrap_or_else(|error| panic!("{script:.200}: {error}")).json().clone()
    }

    /// What a script hands to its callback, its last argument.
    pub async fn eval_async(&self, script: &str, arguments: Vec<Value>) -> Value {
        let returned = self.driver.execute_async(script, arguments).await;
        returned.unwrap_or_else(|error| panic!("{script:.200}: {error}")).json().clone()
    }

    /// The text of the page.
    pub async fn text(&self) -> String {
        self.eval("return document.querySelector('main').innerText").await.as_str().unwrap_or_default().to_owned()
    }

    /// Shows pages as in a window of this width.
    pub async fn set_width(&self, width: u32) {
        let size = json!({ "width": width, "height": 800, "deviceScaleFactor": 1, "mobile": false });
        self.driver.cdp().send_raw("Emulation.setDeviceMetricsOverride", size).await.expect("a width");
    }

    /// A picture of what is seen.
    pub async fn picture(&self, file: &Path) {
        self.driver.screenshot(file).await.expect("a picture");
    }

    /// What the browser complained about since the last call: errors, and what the policy of the pages forbids.
    pub async fn complaints(&self) -> Vec<String> {
        let entries = self.driver.get_log("browser").await.expect("a log");
        let loud = entries.into_iter().filter(|entry| matches!(entry.level.as_str(), "SEVERE" | "WARNING"));
        loud.map(|entry| format!("{}: {}", entry.level, entry.message)).collect()
    }

    /// The requests since the last call.
    pub async fn requests(&self) -> Vec<Request> {
        let entries = self.driver.get_log("performance").await.expect("a log");
        let events = entries.iter().filter_map(|entry| serde_json::from_str::<Value>(&entry.message).ok());
        let requests = events.filter(|event| event["message"]["method"] == "Network.requestWillBeSent");
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let request = |event: Value| {
            let request = &event["message"]["params"]["request"];
            Request { method: text(&request["method"]), url: text(&request["url"]) }
        };
        requests.map(request).collect()
    }

    /// The path of an address of the console, without its query; `None` for another host.
    pub fn path_of(&self, url: &str) -> Option<String> {
        let path = url.strip_prefix(&self.address)?;
        let path = path.split(['?', '#']).next().unwrap_or_default();
        Some(if path.is_empty() { "/".to_owned() } else { path.to_owned() })
    }
}

fn capabilities(profile: &Path) -> thirtyfour::ChromeCapabilities {
    let mut capabilities = DesiredCapabilities::chrome();
    let profile = format!("--user-data-dir={}", profile.join("profile").display());
    // The sandbox does not start as root, and the shared memory of containers is small.
    let arguments = [
        "--headless=new",
        "--no-sandbox",
        "--disable-dev-shm-usage",
        "--disable-gpu",
        "--lang=en",
        "--accept-lang=en",
        "--hide-scrollbars",
        profile.as_str(),
    ];
    let mut set = || -> WebDriverResult<()> {
        for argument in arguments {
            capabilities.add_arg(argument)?;
        }
        capabilities.set_logging_prefs("browser", LoggingPrefsLogLevel::All)?;
        capabilities.set_logging_prefs("performance", LoggingPrefsLogLevel::All)?;
        Ok(())
    };
    set().expect("capabilities");
    capabilities
}
