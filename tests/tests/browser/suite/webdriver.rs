//! Commands of WebDriver, <https://www.w3.org/TR/webdriver2/>, to a chromedriver.
//!
//! No library sends them. `thirtyfour` switches on features of `serde_json`, `fantoccini` some of `time` and `zerofrom`:
//! all tests beside this one would test another build than users get.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use reqwest::{Client, RequestBuilder};
use serde_json::{Value, json};

use super::stage::LIMIT;

/// The name of the property that holds a reference to an element.
const ELEMENT: &str = "element-6066-11e4-a52e-4f735466cecf";

/// A browser that obeys.
pub struct Session {
    client: Client,
    /// The address of its commands, without a slash at its end.
    address: String,
}

/// An element of the page.
pub struct Element<'a> {
    session: &'a Session,
    path: String,
}

impl Session {
    /// Asks a chromedriver for a browser.
    pub async fn start(chromedriver: &str, capabilities: Value) -> Result<Self, String> {
        // The client makes its TLS before it knows that it needs none. An error says that it is there.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let client = Client::builder().no_proxy().timeout(2 * LIMIT).build().expect("a client");
        let asked = json!({ "capabilities": { "alwaysMatch": capabilities } });
        let made = send(client.post(format!("{chromedriver}/session")).body(asked.to_string())).await?;
        let id = made["sessionId"].as_str().ok_or_else(|| format!("no session: {made}"))?;
        Ok(Self { address: format!("{chromedriver}/session/{id}"), client })
    }

    /// Ends the browser.
    pub async fn end(self) {
        send(self.client.delete(&self.address)).await.expect("it ends");
    }

    /// What a command answers.
    pub async fn ask(&self, command: &str, parameters: Value) -> Value {
        let parameters = parameters.to_string();
        let answer = send(self.client.post(format!("{}/{command}", self.address)).body(parameters.clone())).await;
        answer.unwrap_or_else(|error| panic!("{command} {parameters:.200}: {error}"))
    }

    async fn get(&self, path: &str) -> Value {
        let answer = send(self.client.get(format!("{}/{path}", self.address))).await;
        answer.unwrap_or_else(|error| panic!("{path}: {error}"))
    }

    /// Opens an address, and waits until its page is loaded.
    pub async fn open(&self, url: &str) {
        self.ask("url", json!({ "url": url })).await;
    }

    /// The address of the page.
    pub async fn url(&self) -> String {
        self.get("url").await.as_str().expect("an address").to_owned()
    }

    /// What a script returns.
    pub async fn execute(&self, script: &str) -> Value {
        self.ask("execute/sync", json!({ "script": script, "args": [] })).await
    }

    /// What a script hands to its callback, its last argument.
    pub async fn execute_async(&self, script: &str, arguments: Vec<Value>) -> Value {
        self.ask("execute/async", json!({ "script": script, "args": arguments })).await
    }

    /// The first element that a CSS selector finds; it waits for one.
    pub async fn find(&self, selector: &str) -> Element<'_> {
        let found = self.ask("element", json!({ "using": "css selector", "value": selector })).await;
        self.element(&found).expect("a reference to an element")
    }

    /// The element that a script returned.
    pub fn element(&self, returned: &Value) -> Option<Element<'_>> {
        Some(Element { session: self, path: format!("element/{}", returned[ELEMENT].as_str()?) })
    }

    /// Sets a cookie of the host whose page is open.
    pub async fn set_cookie(&self, name: &str, value: &str) {
        self.ask("cookie", json!({ "cookie": { "name": name, "value": value } })).await;
    }

    /// Presses a key of the keyboard, and lets it go.
    pub async fn press(&self, key: char) {
        let strokes = ["keyDown", "keyUp"].map(|kind| json!({ "type": kind, "value": key }));
        let keyboard = json!({ "type": "key", "id": "keyboard", "actions": strokes });
        self.ask("actions", json!({ "actions": [keyboard] })).await;
    }

    /// The tab that commands go to.
    pub async fn tab(&self) -> String {
        self.get("window").await.as_str().expect("a handle").to_owned()
    }

    /// Opens another tab.
    pub async fn open_tab(&self) -> String {
        let opened = self.ask("window/new", json!({ "type": "tab" })).await;
        opened["handle"].as_str().expect("a handle").to_owned()
    }

    /// Sends commands to another tab from now on. It need not be the one that a reader looks at.
    pub async fn switch_to(&self, tab: &str) {
        self.ask("window", json!({ "handle": tab })).await;
    }

    /// A picture of the window, as PNG.
    pub async fn picture(&self) -> Vec<u8> {
        let picture = self.get("screenshot").await;
        STANDARD.decode(picture.as_str().expect("a picture")).expect("Base64")
    }
}

impl Element<'_> {
    /// Clicks into its middle.
    pub async fn click(&self) {
        self.ask("click", json!({})).await;
    }

    /// Types a text into it, which replaces what is there.
    pub async fn fill(&self, text: &str) {
        self.ask("clear", json!({})).await;
        self.ask("value", json!({ "text": text })).await;
    }

    /// The text that is seen.
    pub async fn text(&self) -> String {
        self.session.get(&format!("{}/text", self.path)).await.as_str().expect("a text").to_owned()
    }

    async fn ask(&self, command: &str, parameters: Value) {
        self.session.ask(&format!("{}/{command}", self.path), parameters).await;
    }
}

/// The value of an answer, or what the driver has against the command.
async fn send(request: RequestBuilder) -> Result<Value, String> {
    let answer = request.send().await.map_err(|error| error.to_string())?;
    let text = answer.text().await.map_err(|error| error.to_string())?;
    let mut answer: Value = serde_json::from_str(&text).map_err(|error| format!("{error} in {text:.200}"))?;
    match answer["value"]["error"].as_str() {
        Some(error) => Err(format!("{error}: {}", answer["value"]["message"].as_str().unwrap_or_default())),
        None => Ok(answer["value"].take()),
    }
}
