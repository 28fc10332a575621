//! A job of the type HTTP: `http.yaml` is all that it needs, and a web service does the work. Here the service is in
//! the same process, to have both in one place.
//!
//! ```text
//! cargo run --bin http
//! ```

use std::net::Ipv4Addr;
use std::path::Path;

use axum::Router;
use axum::http::{HeaderMap, StatusCode};
use axum::routing::post;
use elasticjob_starter::prelude::*;

/// Answers with the result of the item: with a status of 400 or more the item has failed.
async fn settle(headers: HeaderMap, body: String) -> (StatusCode, String) {
    let context = headers.get("shardingContext").and_then(|context| context.to_str().ok());
    let Some(context) = context else { return (StatusCode::BAD_REQUEST, "no sharding context\n".to_owned()) };
    println!("asked to {body} for {context}");
    // No worker settles item 1.
    match context.contains(r#""shardingItem":1"#) {
        false => (StatusCode::OK, "settled\n".to_owned()),
        true => (StatusCode::SERVICE_UNAVAILABLE, "nobody is there for Shanghai".to_owned()),
    }
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    init_logging()?;
    // The same default as in the settings.
    let port = std::env::var("SHOP_PORT").map_or(Ok(8089), |port| port.parse())?;
    let listener = tokio::net::TcpListener::bind((Ipv4Addr::LOCALHOST, port)).await?;
    tokio::spawn(async { axum::serve(listener, Router::new().route("/settle", post(settle))).await });
    let settings = Path::new(env!("CARGO_MANIFEST_DIR")).join("http.yaml");
    ElasticJobApp::builder().settings_from(settings).run().await?;
    Ok(())
}
