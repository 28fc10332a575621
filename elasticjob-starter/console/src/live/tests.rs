use std::sync::Arc;

use axum::body::{Body, BodyDataStream};
use axum::http::{Request, StatusCode};
use elasticjob::config::JobSettings;
use elasticjob::registry::memory::MemoryRegistry;
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
