use std::sync::Arc;

use axum::body::{Body, BodyDataStream};
use axum::http::{Request, StatusCode};
use elasticjob::config::JobSettings;
use elasticjob::registry::memory::MemoryRegistry;
use elasticjob::registry::{CreateMode, RegistryCenter, Transaction};
use futures_util::StreamExt;
use tower::ServiceExt;

use super::*;
use crate::access::Identity;
use crate::testing::{console_of, cookie_of, request, start_job, with_users};
use crate::{Console, ConsoleOptions, Registry};

const EVENTS: &str = "/r/default/events";

async fn listen(console: &Console, request: Request<Body>) -> BodyDataStream {
    let response = console.router().oneshot(request).await.expect("a router answers");
    assert_eq!(response.status(), StatusCode::OK);
    assert_eq!(response.headers()["x-accel-buffering"], "no");
    response.into_body().into_data_stream()
}

/// The number of the next event.
async fn next(stream: &mut BodyDataStream) -> Option<u64> {
    loop {
        let text = stream.next().await?.expect("the stream goes on");
        let text = String::from_utf8(text.to_vec()).expect("it is a text");
        if let Some(id) = text.lines().find_map(|line| line.strip_prefix("id: ")) {
            assert!(text.contains("event: changed\n"), "{text}");
            return Some(id.parse().expect("a number"));
        }
    }
}

#[tokio::test]
async fn a_change_is_told_and_one_who_comes_again_is_told_at_once_what_was_missed() {
    let memory = MemoryRegistry::new();
    let console = console_of(&memory);
    let cookie = cookie_of(&console, "viewer").await;
    let mut stream = listen(&console, request("GET", EVENTS, Some(&cookie))).await;
    let _job = start_job(&memory, "job", &JobSettings::default()).await;
    let first = next(&mut stream).await.expect("it goes on");
    drop(stream);
    let mut again = request("GET", EVENTS, Some(&cookie));
    again.headers_mut().insert("last-event-id", (first - 1).into());
    let second = next(&mut listen(&console, again).await).await.expect("it goes on");
    assert!(second >= first, "{first}, {second}");
}

#[tokio::test(start_paused = true)]
async fn without_a_change_it_is_told_every_half_minute_and_the_stream_ends_after_ten_minutes() {
    let memory = MemoryRegistry::new();
    let console = console_of(&memory);
    let cookie = cookie_of(&console, "viewer").await;
    // The watch of the registry center is in place.
    console.app().registries["default"].catalogue().jobs().await.expect("it is read");
    let begin = Instant::now();
    let mut stream = listen(&console, request("GET", EVENTS, Some(&cookie))).await;
    let mut told = 0;
    while next(&mut stream).await.is_some() {
        told += 1;
    }
    assert_eq!(begin.elapsed().as_secs(), LONGEST.as_secs());
    assert!((18..=20).contains(&told), "{told}");
}

#[tokio::test]
async fn a_shutdown_ends_streams_and_too_many_are_refused() {
    let memory = MemoryRegistry::new();
    let options = ConsoleOptions { max_streams: 9, max_streams_of_caller: 3, ..with_users() };
    let console = Console::new(options, [Registry::new("default", Arc::new(memory.connect()))]).expect("it is right");
    let cookie = cookie_of(&console, "viewer").await;
    let app = console.app().clone();
    let take = |name: String| app.streams.take(&Identity::user(name, Vec::new()), &Extensions::new()).expect("free");
    let mut stream = listen(&console, request("GET", EVENTS, Some(&cookie))).await;
    let own: Vec<_> = (1..3).map(|_| take("viewer".to_owned())).collect();
    let api = "/api/v1/registries/default/events";
    let refused = crate::testing::call(&console, request("GET", api, Some(&cookie))).await;
    assert_eq!(refused.status, StatusCode::TOO_MANY_REQUESTS);
    assert!(refused.body.contains("too-many-streams") && refused.body.contains("has 3 streams"), "{}", refused.body);
    drop(own);
    let places: Vec<_> = (1..9).map(|number| take(number.to_string())).collect();
    let refused = crate::testing::call(&console, request("GET", api, Some(&cookie))).await;
    assert_eq!(refused.status, StatusCode::SERVICE_UNAVAILABLE);
    assert!(refused.body.contains("too-many-streams") && refused.body.contains("9 streams"), "{}", refused.body);
    app.ending.cancel();
    while stream.next().await.is_some() {}
    drop(places);
    drop(stream);
    assert_eq!(app.streams.open(), 0, "the place is free again");
}

#[tokio::test(start_paused = true)]
async fn a_reader_of_records_is_told_of_the_own_job_after_a_while_and_each_minute() {
    let memory = MemoryRegistry::new();
    let console = console_of(&memory);
    let cookie = cookie_of(&console, "viewer").await;
    let center = memory.connect();
    let change = async |path: &str| {
        let mut nodes = Transaction::new();
        nodes.create(path, "", CreateMode::Persistent);
        center.commit(nodes).await.expect("it is written");
    };
    change("/own").await;
    change("/other").await;
    let (here, own) = (&crate::testing::traced::here(&console), JobName::new("own").expect("a name"));
    here.registry.catalogue().jobs().await.expect("it is read");
    let query = Wanted::from_now_on(here, Some(&own)).of_records().query();
    assert!(query.contains("job=own") && query.ends_with("records=true"), "{query}");
    let mut stream = listen(&console, request("GET", &format!("{EVENTS}?{query}"), Some(&cookie))).await;
    let begin = Instant::now();
    change("/other/servers").await;
    next(&mut stream).await.expect("it goes on");
    assert_eq!(begin.elapsed().as_secs(), 65, "no change of another job is told, only that a minute went by");
    let (begin, other) = (Instant::now(), number(here, Some(&own), 0));
    change("/own/servers").await;
    let told = next(&mut stream).await.expect("it goes on");
    assert_eq!(begin.elapsed().as_secs(), 5);
    assert!(told > other, "{told}, {other}");
}

#[tokio::test]
async fn nobody_follows_a_job_of_others() {
    let memory = MemoryRegistry::new();
    let folder = crate::testing::traced::Folder::new("live-grants");
    folder.write([]).await;
    let grant = crate::access::Grant::everywhere(crate::access::Role::Viewer).jobs("billing-*");
    let console = folder.console_with(&memory, grant).await;
    let cookie = cookie_of(&console, "viewer").await;
    for (job, status) in [("orders", StatusCode::FORBIDDEN), ("billing-1", StatusCode::OK)] {
        let path = format!("{EVENTS}?job={job}&records=true");
        assert_eq!(crate::testing::call(&console, request("GET", &path, Some(&cookie))).await.status, status, "{job}");
    }
}
