//! The buttons of a page: which there are, and how one is pressed.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use serde::Deserialize;
use serde_json::json;

use super::chrome::Chrome;
use super::routes::{Route, Routes};
use super::stage::LIMIT;

/// What answers with no page: the first one leads to another page, the last two are a text and a file.
const NO_PAGES: [&str; 4] =
    ["/", "/assets/{version}/{name}", "/r/{registry}/jobs/{job}/dump", "/r/{registry}/configurations"];

/// Lists the buttons of all forms. A button of a form whose hidden fields have other names is another one. Forms have
/// buttons of the name `action`, which hide the properties of that name. The page is not kept up to date from now on, not
/// even by what is on its way, so that nothing takes a mark or a field away.
const LIST: &str = "document.querySelectorAll('#live, #live ~ *').forEach(one => one.remove());
document.addEventListener('htmx:before:swap', update => update.preventDefault());
return [...document.querySelectorAll('form')].flatMap(form => {
    const url = new URL(form.getAttribute('action') || location.href, location.href);
    const about = [...form.querySelectorAll('input[type=hidden]')].map(field => field.name);
    return [...form.querySelectorAll('button')].map(button => ({
        method: (form.getAttribute('method') || 'get').toUpperCase(),
        path: url.pathname,
        value: button.value,
        about: about.filter(name => !['next', 'version', 'base', 'previewed'].includes(name)).join(),
    }));
})";

/// What the console answered the page with.
const STATUS: &str = "return performance.getEntriesByType('navigation')[0].responseStatus";

/// Finds the first button that fits, unfolds what it is in, and marks the window, which the answer replaces.
const FIND: &str = "const [method, path, value, about, done] = arguments;
    for (const form of document.querySelectorAll('form')) {
        const url = new URL(form.getAttribute('action') || location.href, location.href);
        const hidden = [...form.querySelectorAll('input[type=hidden]')].map(field => field.name);
        const names = hidden.filter(name => !['next', 'version', 'base', 'previewed'].includes(name)).join();
        if ((form.getAttribute('method') || 'get').toUpperCase() != method || url.pathname != path || names != about) continue;
        const button = [...form.querySelectorAll('button')].find(button => button.value == value);
        if (!button) continue;
        for (let at = button; at; at = at.parentElement) if (at.tagName == 'DETAILS') at.open = true;
        window.isPressed = true;
        return done(button);
    }
    done(null)";

/// Finds a field of the form of a button. One for a time is filled in: how it is typed depends on the locale of the browser. So is a
/// choice, in which nothing can be typed.
const FIELD: &str = "const [button, name, text, done] = arguments;
    const field = button.form.querySelector(`[name='${name}']`);
    if (field?.type != 'datetime-local' && field?.tagName != 'SELECT') return done(field);
    field.value = text;
    done(field.value == text)";

/// A button as a page has it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
pub struct Button {
    pub method: String,
    pub path: String,
    pub value: String,
    /// The names of the hidden fields of its form, with commas.
    pub about: String,
}

impl Button {
    /// A button of a form that changes something.
    pub fn post(path: &str, value: &str) -> Self {
        Self { method: "POST".to_owned(), path: path.to_owned(), value: value.to_owned(), about: String::new() }
    }

    /// The button of a form that asks for another page.
    pub fn get(path: &str) -> Self {
        Self { method: "GET".to_owned(), ..Self::post(path, "") }
    }

    /// The same in a form with such a hidden field.
    #[must_use]
    pub fn about(self, field: &str) -> Self {
        Self { about: field.to_owned(), ..self }
    }

    /// The same button on all pages of a route.
    fn of_route(&self, routes: &Routes) -> Self {
        let route = routes.of(&self.method, &self.path).unwrap_or_else(|| panic!("no route answers {self:?}"));
        Self { path: route.path.clone(), ..self.clone() }
    }
}

/// What was seen and what was pressed.
pub struct Buttons<'a> {
    pub chrome: &'a Chrome,
    routes: Routes,
    seen: BTreeSet<Button>,
    pressed: BTreeSet<Button>,
    /// The routes whose pages were opened.
    opened: BTreeSet<Route>,
}

impl<'a> Buttons<'a> {
    pub fn new(chrome: &'a Chrome) -> Self {
        Self::of(chrome, Routes::declared())
    }

    /// The buttons of these routes.
    pub fn of(chrome: &'a Chrome, routes: Routes) -> Self {
        Self { chrome, routes, seen: BTreeSet::new(), pressed: BTreeSet::new(), opened: BTreeSet::new() }
    }

    /// Notes what another reader pressed as well.
    pub fn pressed_by(&mut self, other: &Buttons<'_>) {
        self.pressed.extend(other.pressed.iter().cloned());
    }

    /// Opens a page, and notes its buttons, which it returns.
    pub async fn open(&mut self, path: &str) -> Vec<Button> {
        self.chrome.go(path).await;
        let status = self.chrome.eval(STATUS).await;
        assert!(status.as_u64().is_some_and(|status| status < 500), "{path}: {status}\n{}", self.chrome.text().await);
        self.note().await
    }

    async fn note(&mut self) -> Vec<Button> {
        let place = self.chrome.path_of(&self.chrome.session.url().await);
        self.opened.extend(place.and_then(|place| self.routes.of("GET", &place)).cloned());
        let seen: Vec<Button> = serde_json::from_value(self.chrome.eval(LIST).await).expect("buttons");
        self.seen.extend(seen.iter().map(|button| button.of_route(&self.routes)));
        seen
    }

    /// Presses a button of the page, after the fields of its form were filled in.
    pub async fn press(&mut self, button: Button, fields: &[(&str, &str)]) {
        let Button { method, path, value, about } = &button;
        let button_found =
            self.chrome.eval_async(FIND, vec![json!(method), json!(path), json!(value), json!(about)]).await;
        let Some(found) = self.chrome.session.element(&button_found) else {
            panic!("there is no {button:?} on\n{}", self.chrome.text().await)
        };
        for (name, text) in fields {
            let field = self.chrome.eval_async(FIELD, vec![button_found.clone(), json!(name), json!(text)]).await;
            match self.chrome.session.element(&field) {
                Some(field) => field.fill(text).await,
                None => assert_eq!(field, json!(true), "{button:?} has a field {name}"),
            }
        }
        found.click().await;
        self.wait_answer(&button).await;
        self.pressed.insert(button.of_route(&self.routes));
        self.note().await;
    }

    /// Waits until the page of the answer is there: its window has no mark.
    async fn wait_answer(&self, button: &Button) {
        let ready = "return document.readyState == 'complete' && !window.isPressed";
        let deadline = Instant::now() + LIMIT;
        while self.chrome.eval(ready).await != json!(true) {
            assert!(Instant::now() < deadline, "{button:?} has no answer");
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }

    /// The same for an action, which tells that it was done.
    pub async fn act(&mut self, button: Button, fields: &[(&str, &str)]) {
        self.press(button.clone(), fields).await;
        self.says_done(&button).await;
    }

    /// The page tells that an action was done.
    pub async fn says_done(&self, button: &Button) {
        let told = self.chrome.eval("return document.querySelector('.said.done')?.innerText || ''").await;
        assert_ne!(told, json!(""), "{button:?} says\n{}", self.chrome.text().await);
    }

    /// Waits until a page has a button; it is loaded again until then.
    pub async fn wait_for(&mut self, path: &str, button: &Button) {
        let deadline = Instant::now() + LIMIT;
        while !self.open(path).await.contains(button) {
            assert!(Instant::now() < deadline, "{path} has no {button:?}:\n{}", self.chrome.text().await);
            tokio::time::sleep(Duration::from_millis(200)).await;
        }
    }

    /// Waits until a page says something; it is loaded again until then.
    pub async fn wait_says(&mut self, path: &str, what: &str, says: impl Fn(&str) -> bool) {
        let deadline = Instant::now() + LIMIT;
        loop {
            self.open(path).await;
            let text = self.chrome.text().await;
            if says(&text) {
                return;
            }
            assert!(Instant::now() < deadline, "{path} does not say {what}:\n{text}");
            tokio::time::sleep(Duration::from_millis(200)).await;
        }
    }

    /// Fails unless the buttons of every page were seen, everything that was seen was pressed, and every route that
    /// changes something answered once.
    pub fn check(&self) {
        let is_page = |route: &&Route| !NO_PAGES.contains(&route.path.as_str());
        let left: Vec<_> =
            self.routes.with("GET").filter(is_page).filter(|route| !self.opened.contains(*route)).collect();
        assert!(left.is_empty(), "pages whose buttons were not looked at: {left:#?}");
        let left = self.seen.difference(&self.pressed).filter(|button| self.routes.are_meant(&button.path));
        let left: Vec<_> = left.collect();
        assert!(left.is_empty(), "buttons that were not pressed: {left:#?}");
        let was_pressed = |path: &str| self.pressed.iter().any(|button| button.method == "POST" && button.path == path);
        let left: Vec<_> = self.routes.with("POST").filter(|route| !was_pressed(&route.path)).collect();
        assert!(left.is_empty(), "routes that no button reached: {left:#?}");
    }
}
