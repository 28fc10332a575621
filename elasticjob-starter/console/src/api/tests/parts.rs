//! Lists that are longer than a page: each is cut in parts, says so, and leads to the next part.

use axum::http::header::LINK;

use super::*;

const REGISTRY: &str = "/api/v1/registries/default";

/// How many elements each list has at least.
const MANY: usize = 130;

/// A job with many items, servers and instances, a server with many instances, and many jobs without one.
async fn many(memory: &MemoryRegistry) -> impl RegistryCenter + use<> {
    let instance = memory.connect();
    let mut nodes = Transaction::new();
    let mut node = |path: String, data: &str| {
        // An instance is there as long as its session.
        let is_instance = path.contains("@-@");
        nodes.create(path, data, if is_instance { CreateMode::Ephemeral } else { CreateMode::Persistent });
    };
    for name in ["wide", "dense"] {
        node(format!("/{name}"), "");
        node(format!("/{name}/config"), &format!("shardingTotalCount: {MANY}\n"));
        for part in ["servers", "instances", "sharding"] {
            node(format!("/{name}/{part}"), "");
        }
    }
    node("/dense/servers/10.0.1.1".to_owned(), "");
    for number in 0..MANY {
        node(format!("/wide/servers/10.0.0.{number}"), "");
        node(format!("/wide/instances/10.0.0.{number}@-@1"), "");
        node(format!("/wide/sharding/{number}"), "");
        node(format!("/dense/instances/10.0.1.1@-@{number}"), "");
        node(format!("/gone-{number}"), "");
        node(format!("/gone-{number}/config"), "shardingTotalCount: 1\n");
    }
    instance.commit(nodes).await.expect("they are written");
    instance
}

/// The address in the header that leads to the next part.
fn next(answer: &Answer) -> Option<String> {
    let link = answer.headers.get(LINK)?.to_str().expect("a text");
    let (address, about) = link.trim_start_matches('<').split_once('>').expect("an address");
    assert_eq!(about, "; rel=\"next\"");
    Some(address.to_owned())
}

#[tokio::test]
async fn the_parts_of_a_list_of_the_api_are_the_whole_list() {
    let memory = MemoryRegistry::new();
    let _instance = many(&memory).await;
    let caller = Caller::admin(&memory).await;
    let job = format!("{JOBS}/wide");
    for list in [
        format!("{REGISTRY}/alarms"),
        format!("{REGISTRY}/servers"),
        format!("{REGISTRY}/instances"),
        format!("{job}/items"),
        format!("{job}/findings"),
        format!("{job}/instances"),
    ] {
        let whole = caller.get(&list).await;
        assert_eq!(next(&whole), None, "{list} has all unless a part is asked for");
        let whole = parsed(&whole).as_array().expect("a list").clone();
        assert!(whole.len() >= MANY, "{list} has {}", whole.len());
        let (mut parts, mut path) = (Vec::new(), Some(format!("{list}?limit=50")));
        while let Some(part) = path {
            let answer = caller.get(&part).await;
            assert_eq!(answer.status, StatusCode::OK, "{part}: {}", answer.body);
            let elements = parsed(&answer).as_array().expect("a list").clone();
            assert!(elements.len() <= 50 && !elements.is_empty(), "{part} has {}", elements.len());
            path = next(&answer);
            assert!(path.is_none() || elements.len() == 50, "{part}");
            parts.extend(elements);
        }
        assert_eq!(parts.len(), whole.len(), "{list}");
        assert!(whole.iter().all(|one| parts.contains(one)), "{list}");
        assert_eq!(caller.get(&format!("{list}?limit=0")).await.status, StatusCode::BAD_REQUEST, "{list}");
    }
    let of_item = caller.get(&format!("{job}/findings?item=129&limit=1")).await;
    assert!(next(&of_item).is_some_and(|next| next.contains("item=129")), "the next part is of the same item");
    let wrong = caller.get(&format!("{job}/items?cursor=first")).await;
    assert_eq!(problem(&wrong), (400, "bad-request".to_owned()), "an item is a number");
}

#[tokio::test]
async fn a_page_that_shows_a_part_of_a_list_says_so_and_leads_to_the_rest() {
    let memory = MemoryRegistry::new();
    let _instance = many(&memory).await;
    let caller = Caller::admin(&memory).await;
    for (page, last) in [
        ("/alarms", None),
        ("/servers", Some(">10.0.1.1<")),
        ("/servers/10.0.1.1", Some("10.0.1.1@-@99<")),
        ("/jobs/wide", Some(">10.0.0.99<")),
        ("/jobs/wide/why", Some(r#"<th scope="row">129</th>"#)),
    ] {
        let path = format!("/r/default{page}");
        let first = caller.get(&path).await.body;
        let link = first.split(r#"<a rel="next" href=""#).nth(1).and_then(|rest| rest.split('"').next());
        let link = link.unwrap_or_else(|| panic!("{page} has no link: {first}"));
        let address = if link.starts_with('?') { format!("{path}{link}") } else { link.to_owned() };
        let second = caller.get(&address).await;
        assert_eq!(second.status, StatusCode::OK, "{address}: {}", second.body);
        assert!(!second.body.contains(r#"<a rel="next" href=""#), "{address} is the last one: {}", second.body);
        if let Some(last) = last {
            assert!(!first.contains(last) && second.body.contains(last), "{address}: {}", second.body);
        }
    }
    let servers = caller.get("/r/default/servers?cursor=10.0.0.99").await.body;
    assert!(servers.contains("125 more"), "a server shows a few of its instances: {servers}");
}
