//! Every page, by the links that lead to it.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use serde_json::json;

use super::chrome::Chrome;
use super::routes::Routes;
use super::stage::Stage;
use super::{findings, installed, past};

/// How many pages of one route are looked at: those of several jobs differ. With a query one of each kind.
const OF_A_ROUTE: usize = 2;

/// How many addresses of a kind have to answer, whether they are looked at or not.
const ASKED: usize = 12;

/// What kind of answer an address gives, which is not shown: its status and type.
const ASK: &str = "const [url, done] = arguments;
    const end = new AbortController();
    fetch(url, { signal: end.signal }).then(
        answer => { done([answer.status, answer.headers.get('content-type') || '']); end.abort(); },
        error => done([0, String(error)]))";

pub async fn every_page() {
    let stage = Stage::start_beside_java().await;
    past::write(&stage.database).await;
    let chrome = Chrome::start(&stage.address).await;
    let mut wrong = page_in_both_languages(&chrome, "/login", &installed::axe()).await;
    chrome.log_in("admin").await;
    wrong.extend(walk(&chrome, "/", &Routes::declared()).await);
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    picture_of_readme(&chrome).await;
    chrome.quit().await;
}

/// Follows the links of a page to all others; returns what is wrong with them, and which pages no link leads to.
pub async fn walk(chrome: &Chrome, from: &str, routes: &Routes) -> Vec<String> {
    let (axe, mut wrong) = (installed::axe(), Vec::new());
    let mut visited = BTreeSet::new();
    let mut count: BTreeMap<Kind, usize> = BTreeMap::new();
    let mut queue = VecDeque::from([from.to_owned()]);
    let mut known: BTreeSet<String> = queue.iter().cloned().collect();
    while let Some(place) = queue.pop_front() {
        let Some(kind) = Kind::of(routes, &place) else {
            wrong.push(format!("{place}: no route answers this link"));
            continue;
        };
        if !routes.are_meant(&kind.route) {
            continue;
        }
        let looks = if kind.fields.is_empty() { OF_A_ROUTE } else { 1 };
        let seen = count.entry(kind).or_default();
        *seen += 1;
        if *seen > ASKED {
            continue;
        }
        let is_looked_at = *seen <= looks;
        let answer = chrome.eval_async(ASK, vec![json!(place)]).await;
        if answer[0] != json!(200) {
            wrong.push(format!("{place}: answers {answer}"));
        } else if is_looked_at && answer[1].as_str().is_some_and(|kind| kind.starts_with("text/html")) {
            wrong.extend(page_in_both_languages(chrome, &place, &axe).await);
            // The job with a past first: its pages show most.
            let new = links(chrome).await.into_iter().filter(|link| known.insert(link.clone()));
            let (first, then): (Vec<_>, Vec<_>) = new.partition(|link| link.contains(past::JOB));
            first.into_iter().rev().for_each(|link| queue.push_front(link));
            queue.extend(then);
        }
        let requests = chrome.requests().await;
        wrong.extend(findings::foreign(chrome, &requests).into_iter().map(|found| format!("{place}: {found}")));
        let answered = requests.iter().filter_map(|request| routes.of(&request.method, &chrome.path_of(&request.url)?));
        visited.extend(answered.cloned());
    }
    let never = routes.with("GET").filter(|route| !visited.contains(*route));
    wrong.extend(never.map(|route| format!("{}: no link leads to this route", route.path)));
    wrong
}

/// Pages that are alike: those of a route whose queries have the same fields.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Kind {
    route: String,
    fields: BTreeSet<String>,
}

impl Kind {
    fn of(routes: &Routes, place: &str) -> Option<Self> {
        let (path, query) = place.split_once('?').unwrap_or((place, ""));
        let fields = query.split('&').filter_map(|field| field.split('=').next()).filter(|field| !field.is_empty());
        Some(Self { route: routes.of("GET", path)?.path.clone(), fields: fields.map(str::to_owned).collect() })
    }
}

/// Looks at a page in each language; English is the last one, and stays.
async fn page_in_both_languages(chrome: &Chrome, place: &str, axe: &str) -> Vec<String> {
    let mut wrong = Vec::new();
    for language in ["zh-CN", "en"] {
        chrome.go(place).await;
        chrome.session.set_cookie("elasticjob_language", language).await;
        chrome.go(place).await;
        let tag = chrome.eval("return document.documentElement.lang").await;
        assert_eq!(tag, json!(language), "{place}");
        let title = chrome.eval("return document.title").await;
        assert_ne!(title, json!("owned"), "{place}: the text of an error ran as a script");
        let found = findings::of_page(chrome, axe, &picture_name(place, language)).await;
        wrong.extend(found.into_iter().map(|found| format!("{place} in {language}: {found}")));
    }
    wrong
}

/// The pictures of a page are named after its address.
fn picture_name(place: &str, language: &str) -> String {
    let name: String = place.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).collect();
    format!("{language}{name:.80}")
}

/// The links of the page within the console.
async fn links(chrome: &Chrome) -> Vec<String> {
    let script = "return [...document.links].filter(a => a.origin == location.origin).map(a => a.pathname + a.search)";
    let links = chrome.eval(script).await;
    links.as_array().into_iter().flatten().filter_map(|link| Some(link.as_str()?.to_owned())).collect()
}

/// Takes the picture of README.md where documents are to be written.
async fn picture_of_readme(chrome: &Chrome) {
    chrome.go("/r/default/jobs").await;
    let taken = installed::pictures().join("console.png");
    chrome.picture(&taken).await;
    if std::env::var_os("ELASTICJOB_WRITE_DOCS").is_some() {
        let kept = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/pictures/console.png");
        std::fs::copy(taken, kept).expect("docs/pictures is there");
    }
}
