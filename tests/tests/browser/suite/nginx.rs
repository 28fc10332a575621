//! The console behind a real nginx, below a path, with answers that are buffered.

use std::fs;
use std::net::TcpStream;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use elasticjob_tests::group::{TemporaryFolder, TestProcess};
use elasticjob_tests::{ports, programs};
use reqwest::StatusCode;
use reqwest::header::{HeaderMap, HeaderValue, LOCATION, ORIGIN, REFERER, SET_COOKIE};
use serde_json::json;

use super::chrome::Chrome;
use super::killed::wait_shown;
use super::stage::{LIMIT, PASSWORD, Stage};
use super::{findings, installed};

/// Where the proxy has the console, without a slash at its end.
pub const PATH: &str = "/ops/jobs";

const JOB: &str = "/r/default/jobs/nightly";

/// An nginx that passes on one path.
pub struct Nginx {
    /// The address of the console behind it.
    address: String,
    _process: TestProcess,
    _folder: TemporaryFolder,
}

impl Nginx {
    /// Starts it before a console. Its buffering is on, as it is unless it is switched off.
    pub fn start(console: u16) -> Self {
        let folder = TemporaryFolder::new("nginx").expect("a folder");
        let port = ports::free().expect("a free port");
        let place = folder.path().display();
        // The first location is that of docs/console.md. The other one has a script come long after those beside it.
        let text = format!(
            "daemon off;\npid {place}/pid;\nerror_log stderr;\nevents {{}}\nhttp {{\n  access_log off;\n  proxy_buffering on;\n  \
             client_body_temp_path {place}/body;\n  proxy_temp_path {place}/proxy;\n  fastcgi_temp_path {place}/fastcgi;\n  \
             uwsgi_temp_path {place}/uwsgi;\n  scgi_temp_path {place}/scgi;\n  server {{\n    listen 127.0.0.1:{port};\n    \
             location {PATH}/ {{\n      proxy_pass http://127.0.0.1:{console};\n      proxy_set_header Host $http_host;\n      \
             proxy_set_header X-Forwarded-For $remote_addr;\n    }}\n    \
             location ~ ^{PATH}/assets/.*/hx-sse.min.js$ {{\n      proxy_pass http://127.0.0.1:{console};\n      \
             proxy_hide_header Cache-Control;\n      add_header Cache-Control no-store;\n      limit_rate 6k;\n    \
             }}\n  }}\n}}\n"
        );
        let file = folder.path().join("nginx.conf");
        fs::write(&file, text).expect("the folder is there");
        let program = programs::find("nginx", "nginx").expect("it was looked for");
        let mut command = Command::new(program);
        command.arg("-p").arg(folder.path()).arg("-c").arg(file).stdout(Stdio::null());
        let process = TestProcess::start(command, folder.path().join("nginx.log")).expect("it starts");
        let deadline = Instant::now() + LIMIT;
        while TcpStream::connect(("127.0.0.1", port)).is_err() {
            assert!(Instant::now() < deadline, "nginx does not listen\n{}", process.log());
            std::thread::sleep(Duration::from_millis(20));
        }
        Self { address: format!("http://127.0.0.1:{port}{PATH}"), _process: process, _folder: folder }
    }
}

pub async fn is_served() {
    let stage = Stage::start_below(PATH).await;
    let nginx = Nginx::start(stage.port);
    let chrome = Chrome::start(&nginx.address).await;
    chrome.log_in("admin").await;
    assert_eq!(chrome.session.url().await, format!("{}/r/default", nginx.address), "the login leads to the first page");
    let mut wrong = Vec::new();
    for page in
        ["/r/default", "/r/default/jobs", JOB, "/r/default/jobs/nightly/configuration/edit", "/r/default/timeline"]
    {
        chrome.go(page).await;
        wrong.extend(findings::of_page(&chrome, &installed::axe(), &format!("nginx{}", page.replace('/', "-"))).await);
        wrong.extend(findings::foreign(&chrome, &chrome.requests().await));
        let outside = chrome.eval(
            "return [...document.links].filter(a => a.origin == location.origin && !a.pathname.startsWith('/ops/jobs/')).map(a => a.href)",
        );
        assert_eq!(outside.await, json!([]), "{page}: links lead out of the path of the console");
    }
    assert!(wrong.is_empty(), "{wrong:#?}");

    // A button works, and the page of another reader changes by itself although the proxy buffers.
    let other = Chrome::start(&nginx.address).await;
    other.log_in("viewer").await;
    other.go(JOB).await;
    for (action, shows) in [("disable", true), ("enable", false)] {
        chrome.go(JOB).await;
        let button = format!("main form[action$='/jobs/nightly'] button[value={action}]");
        chrome
            .eval(&format!("document.querySelector(\"{button}\").closest('details')?.setAttribute('open', '')"))
            .await;
        chrome.session.find(&button).await.click().await;
        let began = Instant::now();
        wait_shown(&other, |text| text.contains("DISABLED") == shows).await;
        assert!(began.elapsed() < Duration::from_secs(25), "by the tick of the page and not by the change");
    }
    assert!(chrome.complaints().await.is_empty());
    chrome.quit().await;
    other.quit().await;
    requests_of_other_origins(&nginx.address).await;
}

/// A browser that tells no `Sec-Fetch-Site`, as one does that came by HTTP to another address than that of its own host.
async fn requests_of_other_origins(address: &str) {
    let client = reqwest::Client::builder().redirect(reqwest::redirect::Policy::none()).build().expect("a client");
    let form = format!("name=admin&password={}&next=%2F", PASSWORD.replace(' ', "+").replace(',', "%2C"));
    let own = address.split(PATH).next().expect("an address").to_owned();
    let post = async |path: &str, body: String, headers: HeaderMap| {
        let request = client.post(format!("{address}{path}")).headers(headers);
        let request = request.header("content-type", "application/x-www-form-urlencoded").body(body);
        request.send().await.expect("the proxy answers")
    };
    let from = |origin: &str| HeaderMap::from_iter([(ORIGIN, HeaderValue::from_str(origin).expect("a value"))]);
    let answer = post("/login", form.clone(), from(&own)).await;
    assert_eq!(answer.status(), StatusCode::SEE_OTHER, "the own origin, with its port, is let in");
    assert_eq!(answer.headers()[LOCATION], format!("{PATH}/"), "and stays below the path");
    let cookie = answer.headers()[SET_COOKIE].to_str().expect("a text").to_owned();
    let cookie = cookie.split(';').next().expect("a cookie").to_owned();
    let with_cookie = |mut headers: HeaderMap| {
        headers.insert("cookie", HeaderValue::from_str(&cookie).expect("a value"));
        headers
    };
    for foreign in ["https://evil.example", "http://127.0.0.1:1", "null"] {
        let mut headers = with_cookie(from(foreign));
        headers.insert(REFERER, HeaderValue::from_str(&format!("{own}/")).expect("a value"));
        let refused = post(JOB, "action=trigger".to_owned(), headers).await;
        assert_eq!(refused.status(), StatusCode::FORBIDDEN, "{foreign}");
    }
    let done = post(JOB, "action=trigger".to_owned(), with_cookie(from(&own))).await;
    assert_eq!(done.status(), StatusCode::SEE_OTHER);
    assert!(done.headers()[LOCATION].to_str().expect("a text").starts_with(PATH), "{done:?}");
    // What the proxy passes on is not of this host: it has no metrics without a token.
    let metrics = client.get(format!("{address}/metrics")).send().await.expect("the proxy answers");
    assert_eq!(metrics.status(), StatusCode::UNAUTHORIZED);
}
