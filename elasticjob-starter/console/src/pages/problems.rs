//! Meanings of the codes of problems, and remedies: the page that the `type` of a problem leads to.

use std::collections::HashMap;

use askama::Template;
use axum::response::Response;

use super::{Layout, page};
use crate::access::LONGEST_REASON;
use crate::api::Code;
use crate::here::Who;
use crate::text::{Text, t};

#[derive(Template)]
#[template(path = "problems.html")]
struct ProblemsPage {
    layout: Layout,
    rows: Vec<Row>,
}

struct Row {
    code: Code,
    meaning: String,
    remedy: String,
}

impl Row {
    fn of(text: &Text, code: Code) -> Self {
        let [meaning, remedy] = meaning_and_remedy(text, code.as_str());
        Self { code, meaning, remedy }
    }
}

/// What a code of a problem means, and what helps.
pub(super) fn meaning_and_remedy(text: &Text, code: &str) -> [String; 2] {
    let limits = HashMap::from([("most", LONGEST_REASON.to_string())]);
    [format!("problem-{code}"), format!("problem-{code}-remedy")].map(|id| text.loader().get_args(&id, limits.clone()))
}

pub(crate) async fn show(who: Who) -> Response {
    let rows = Code::ALL.iter().map(|code| Row::of(&who.text, *code)).collect();
    page(&ProblemsPage { layout: Layout::of_console(&who), rows })
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use elasticjob::registry::memory::MemoryRegistry;

    use super::*;
    use crate::testing::{call, console_of, cookie_of, request};
    use crate::text::{Language, Texts};

    #[test]
    fn every_code_has_a_meaning_and_a_remedy_in_each_language() {
        let texts = Texts::load().expect("they load");
        for language in Language::ALL {
            let mut said = BTreeSet::new();
            for code in Code::ALL {
                let Row { meaning, remedy, .. } = Row::of(texts.of(language), *code);
                for text in [meaning, remedy] {
                    assert!(!text.starts_with("No localization"), "{code} in {language}");
                    assert!(said.insert(text), "{code} in {language} says what another one says");
                }
            }
        }
        let names: BTreeSet<_> = Code::ALL.iter().map(|code| code.as_str()).collect();
        assert_eq!(names.len(), Code::ALL.len());
    }

    #[tokio::test]
    async fn the_type_of_a_problem_leads_to_its_line() {
        let console = console_of(&MemoryRegistry::new());
        let viewer = cookie_of(&console, "viewer").await;
        let problem = call(&console, request("GET", "/api/v1/registries/default/jobs/none", Some(&viewer))).await.body;
        let problem: serde_json::Value = serde_json::from_str(&problem).expect("JSON");
        let (path, anchor) = problem["type"].as_str().and_then(|kind| kind.split_once('#')).expect("an address");
        let page = call(&console, request("GET", path, Some(&viewer))).await;
        assert_eq!(page.status, 200);
        for code in Code::ALL {
            assert!(page.body.contains(&format!("id=\"{code}\"")), "{code}: {}", page.body);
        }
        assert_eq!(anchor, "no-such-job");
    }
}
