//! A page whose console is away: killed, or behind a proxy that answers in its place.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;

use super::chrome::Chrome;
use super::stage::{LIMIT, Stage};
use super::tabs::{metrics, opened_streams};

/// Which notes the page shows, by their ids.
const NOTES: &str =
    "return [...document.querySelectorAll('.told .warning')].filter(note => !note.hidden).map(note => note.id)";

/// What stands in the place of the console: a proxy that does not reach it, or that reaches a stream.
struct Stand {
    task: JoinHandle<()>,
    /// It answers with a stream from now on.
    streams: Arc<AtomicBool>,
    /// How many requests for a stream it refused.
    refused: Arc<AtomicUsize>,
}

impl Stand {
    async fn at(port: u16) -> Self {
        let listener = TcpListener::bind(("127.0.0.1", port)).await.expect("the port is free");
        let (streams, refused) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicUsize::new(0)));
        let of_task = (streams.clone(), refused.clone());
        let task = tokio::spawn(async move {
            let mut open = Vec::new();
            while let Ok((stream, _)) = listener.accept().await {
                open.extend(answered(stream, &of_task.0, &of_task.1).await);
            }
        });
        Self { task, streams, refused }
    }

    async fn wait_refused(&self, more: usize) {
        let (before, deadline) = (self.refused.load(Ordering::SeqCst), Instant::now() + LIMIT);
        while self.refused.load(Ordering::SeqCst) < before + more {
            assert!(Instant::now() < deadline, "the page does not ask again");
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    }
}

/// Answers a request; returns the connection of a stream, which stays open.
async fn answered(mut stream: TcpStream, streams: &AtomicBool, refused: &AtomicUsize) -> Option<TcpStream> {
    let (mut head, mut part) = (Vec::new(), [0; 1024]);
    while !head.windows(4).any(|end| end == b"\r\n\r\n") {
        match stream.read(&mut part).await {
            Ok(read) if read > 0 => head.extend_from_slice(&part[..read]),
            _ => return None,
        }
    }
    if streams.load(Ordering::SeqCst) {
        let answer = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n: begins\n\n";
        return stream.write_all(answer.as_bytes()).await.ok().map(|()| stream);
    }
    if head.starts_with(b"GET") {
        refused.fetch_add(1, Ordering::SeqCst);
    }
    let answer =
        "HTTP/1.1 503 Service Unavailable\r\nContent-Type: text/html\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";
    stream.write_all(answer.as_bytes()).await.ok();
    None
}

async fn wait_notes(chrome: &Chrome, notes: Value) {
    let deadline = Instant::now() + LIMIT;
    loop {
        let shown = chrome.eval(NOTES).await;
        if shown == notes {
            return;
        }
        assert!(Instant::now() < deadline, "the page has the notes {shown}, not {notes}");
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
}

pub async fn is_said() {
    let mut stage = Stage::start().await;
    let chrome = Chrome::start(&stage.address).await;
    chrome.log_in("admin").await;
    let before = opened_streams(&metrics(&stage.address).await);
    chrome.go("/r/default/jobs/nightly").await;
    let deadline = Instant::now() + LIMIT;
    while opened_streams(&metrics(&stage.address).await) <= before {
        assert!(Instant::now() < deadline, "the page opens no stream");
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    wait_notes(&chrome, json!([])).await;

    stage.console.kill();
    wait_notes(&chrome, json!(["stale"])).await;
    let note = "return document.getElementById('stale').innerText";
    let told = chrome.eval(note).await.as_str().unwrap_or_default().to_owned();
    let since = told.strip_prefix("Not followed since ").and_then(|rest| rest.split_once(": "));
    let is_time =
        |text: &str| text.len() == 8 && text.split(':').all(|part| part.parse::<u8>().is_ok_and(|it| it < 60));
    let is_offset = |text: &str| text.len() == 5 && text.starts_with(['+', '-']) && text.parse::<i16>().is_ok();
    let time = since.and_then(|(since, _)| since.split_once(" GMT"));
    assert!(time.is_some_and(|(time, offset)| is_time(time) && is_offset(offset)), "{told}");
    assert!(chrome.text().await.contains("nightly"), "the page stays as it is");

    // The answer of a proxy is not that of the console, which says by 503 that too many pages are open.
    let stand = Stand::at(stage.port).await;
    stand.wait_refused(2).await;
    assert_eq!(chrome.eval(NOTES).await, json!(["stale"]));
    assert_eq!(chrome.eval(note).await, json!(told), "it has the time from which on the page gets old");
    stand.streams.store(true, Ordering::SeqCst);
    wait_notes(&chrome, json!([])).await;

    // The console that starts again does not know the session any more: it is reached, and says so.
    stand.task.abort();
    stand.task.await.expect_err("it was ended");
    stage.start_console_again();
    wait_notes(&chrome, json!(["logged-out"])).await;
    chrome.quit().await;
}
