//! A headless Chromium with what it wrote to its console and which requests it made.

use std::fs;
use std::net::TcpStream;
use std::path::Path;
use std::time::{Duration, Instant};

use elasticjob_tests::group::{TemporaryFolder, TestProcess};
use elasticjob_tests::{ports, programs};
use serde_json::{Value, json};

use super::devtools::{self, Request};
use super::stage::{LIMIT, PASSWORD};
use super::webdriver::Session;

/// The browser, at a console.
pub struct Chrome {
    pub session: Session,
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
        let session = Session::start(&format!("http://127.0.0.1:{port}"), capabilities(folder.path())).await;
        let session = session.unwrap_or_else(|error| panic!("no browser: {error}\n{}", chromedriver.log()));
        let chrome = Self { session, address: address.to_owned(), _chromedriver: chromedriver, _folder: folder };
        chrome.set_width(1280).await;
        // Or colours are measured on their way from one theme to the other.
        devtools::keep_still(&chrome.session).await;
        chrome
    }

    /// Ends it.
    pub async fn quit(self) {
        self.session.end().await;
    }

    /// Logs in by the page.
    pub async fn log_in(&self, user: &str) {
        self.go("/login").await;
        for (field, text) in [("name", user), ("password", PASSWORD)] {
            self.session.find(&format!("main input[name={field}]")).await.fill(text).await;
        }
        self.session.find("main form.login button").await.click().await;
        assert_eq!(self.session.find("form[action$='/logout'] a").await.text().await, user, "they are logged in");
    }

    /// Opens a path of the console.
    pub async fn go(&self, path: &str) {
        self.session.open(&format!("{}{path}", self.address)).await;
    }

    /// What a script returns.
    pub async fn eval(&self, script: &str) -> Value {
        self.session.execute(script).await
    }

    /// What a script hands to its callback, its last argument.
    pub async fn eval_async(&self, script: &str, arguments: Vec<Value>) -> Value {
        self.session.execute_async(script, arguments).await
    }

    /// The text of the page.
    pub async fn text(&self) -> String {
        self.eval("return document.querySelector('main').innerText").await.as_str().unwrap_or_default().to_owned()
    }

    /// Shows pages as in a window of this width. The page hears of it a moment later, on a busy machine after it was measured.
    pub async fn set_width(&self, width: u32) {
        devtools::set_width(&self.session, width).await;
        let deadline = Instant::now() + LIMIT;
        while self.eval("return innerWidth").await != json!(width) {
            assert!(Instant::now() < deadline, "the window does not become {width} px wide");
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }

    /// A picture of what is seen.
    pub async fn picture(&self, file: &Path) {
        fs::write(file, self.session.picture().await).expect("the folder is there");
    }

    /// A picture of the whole page.
    pub async fn whole_page(&self, file: &Path) {
        fs::write(file, devtools::whole_page(&self.session).await).expect("the folder is there");
    }

    /// What the browser complained about since the last call: errors, and what the policy of the pages forbids.
    pub async fn complaints(&self) -> Vec<String> {
        devtools::complaints(&self.session).await
    }

    /// The requests since the last call.
    pub async fn requests(&self) -> Vec<Request> {
        devtools::requests(&self.session).await
    }

    /// The path of an address of the console, without its query; `None` for another host.
    pub fn path_of(&self, url: &str) -> Option<String> {
        let path = url.strip_prefix(&self.address)?;
        let path = path.split(['?', '#']).next().unwrap_or_default();
        Some(if path.is_empty() { "/".to_owned() } else { path.to_owned() })
    }
}

fn capabilities(folder: &Path) -> Value {
    // The sandbox does not start as root, and the shared memory of containers is small.
    let arguments = [
        "--headless=new",
        "--no-sandbox",
        "--disable-dev-shm-usage",
        "--disable-gpu",
        "--lang=en",
        "--accept-lang=en",
        "--hide-scrollbars",
        &format!("--user-data-dir={}", folder.join("profile").display()),
    ];
    let limit = u64::try_from(LIMIT.as_millis()).expect("a short time");
    json!({
        "browserName": "chrome",
        "timeouts": { "script": limit, "pageLoad": limit, "implicit": limit },
        "goog:chromeOptions": { "args": arguments },
        "goog:loggingPrefs": devtools::logs(),
    })
}
