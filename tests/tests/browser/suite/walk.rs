//! Every page, by the links that lead to it.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use serde_json::json;

use super::chrome::Chrome;
use super::routes::Routes;
use super::stage::Stage;
use super::{findings, installed};

/// So many pages of one route are looked at: those of several jobs differ.
const OF_A_ROUTE: usize = 2;

/// What kind of answer an address gives, which is not shown: its status and type.
const ASK: &str = "const [url, done] = arguments;
    const end = new AbortController();
    fetch(url, { signal: end.signal }).then(
        answer => { done([answer.status, answer.headers.get('content-type') || '']); end.abort(); },
        error => done([0, String(error)]))";

pub async fn every_page() {
    let stage = Stage::start().await;
    let chrome = Chrome::start(&stage.address).await;
    let (routes, axe) = (Routes::declared(), installed::axe());
    let mut wrong = page_in_both_languages(&chrome, "/login", &axe).await;
    chrome.log_in("admin").await;

    let mut visited = BTreeSet::new();
    let mut count: BTreeMap<String, usize> = BTreeMap::new();
    let mut queue = VecDeque::from(["/".to_owned()]);
    let mut known: BTreeSet<String> = queue.iter().cloned().collect();
    while let Some(place) = queue.pop_front() {
        let path = place.split('?').next().unwrap_or_default();
        let Some(route) = routes.of("GET", path) else {
            wrong.push(format!("{place}: no route answers this link"));
            continue;
        };
        let seen = count.entry(route.path.clone()).or_default();
        if *seen == OF_A_ROUTE {
            continue;
        }
        *seen += 1;
        let answer = chrome.eval_async(ASK, vec![json!(place)]).await;
        if answer[0] != json!(200) {
            wrong.push(format!("{place}: answers {answer}"));
        } else if answer[1].as_str().is_some_and(|kind| kind.starts_with("text/html")) {
            wrong.extend(page_in_both_languages(&chrome, &place, &axe).await);
            let name: String = place.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).collect();
            chrome.picture(&installed::pictures().join(format!("page{name:.80}.png"))).await;
            queue.extend(links(&chrome).await.into_iter().filter(|link| known.insert(link.clone())));
        }
        let requests = chrome.requests().await;
        wrong.extend(findings::foreign(&chrome, &requests).into_iter().map(|found| format!("{place}: {found}")));
        let answered = requests.iter().filter_map(|request| routes.of(&request.method, &chrome.path_of(&request.url)?));
        visited.extend(answered.cloned());
    }
    let never: Vec<_> = routes.with("GET").filter(|route| !visited.contains(*route)).collect();
    assert!(never.is_empty(), "no link leads to {never:#?}");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    picture_of_readme(&chrome).await;
    chrome.quit().await;
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
        let found = findings::of_page(chrome, axe).await;
        wrong.extend(found.into_iter().map(|found| format!("{place} in {language}: {found}")));
    }
    wrong
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
