//! The queries of the lists of records: each takes the parameters that it uses, and no other one.

use super::*;

const LISTS: [(&str, &[&str]); 4] = [
    ("executions", &["job", "item", "ip", "result", "source", "from", "until", "cursor", "limit", "format"]),
    ("states", &["job", "ip", "state", "from", "until", "cursor", "limit", "format"]),
    ("decisions", &["job", "item", "ip", "kind", "from", "until", "cursor", "limit", "format"]),
    ("audit", &["job", "item", "who", "what", "from", "until", "cursor", "limit", "format"]),
];

#[tokio::test]
async fn a_list_of_records_refuses_a_parameter_that_it_does_not_use_and_says_which_it_has() {
    let caller = Caller::admin(&MemoryRegistry::new()).await;
    let all: BTreeSet<&str> = LISTS.iter().flat_map(|(_, known)| known.iter().copied()).chain(["to", "a\"b"]).collect();
    for (list, known) in LISTS {
        for name in &all {
            let query = form_urlencoded::Serializer::new(String::new()).append_pair(name, "").finish();
            let answer = caller.get(&format!("/api/v1/registries/default/{list}?{query}")).await;
            let told = parsed(&answer)["detail"].as_str().unwrap_or_default().to_owned();
            if known.contains(name) {
                assert!(!told.contains("is no parameter"), "{list} {name}: {told}");
                continue;
            }
            assert_eq!(problem(&answer), refused::code(400, "bad-request"), "{list} {name}");
            let (_, has) =
                told.split_once(&format!("`{name}` is no parameter of this address: it has ")).expect("it says so");
            let has: Vec<&str> = has.split(", ").map(|name| name.trim_matches('`')).collect();
            assert_eq!(has, known, "{list}");
        }
    }
}

#[test]
fn the_document_has_the_parameters_of_each_list_alone() {
    let console = console_of(&MemoryRegistry::new());
    let document = document(&declared(console.app().clone()));
    for (list, known) in LISTS {
        let parameters = &document["paths"][format!("/api/v1/registries/{{registry}}/{list}")]["get"]["parameters"];
        let in_query = parameters.as_array().expect("parameters").iter().filter(|it| it["in"] == "query");
        let names: Vec<&str> = in_query.filter_map(|it| it["name"].as_str()).collect();
        assert_eq!(names, known, "{list}");
    }
}
