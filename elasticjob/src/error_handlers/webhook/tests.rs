use std::sync::Arc;
use std::time::Duration;

use tokio::net::TcpListener;

use super::*;
use crate::api::{Failed, RunInfo};
use crate::fire::{ExecutionSource, Fire, RunKey};
use crate::http_client::server::{answering, trickling};
use crate::ident::InstanceId;

fn configuration(props: &[(&str, &str)]) -> JobConfiguration {
    props.iter().fold(JobConfiguration::builder("reports", 1), |b, (key, value)| b.prop(*key, *value)).build().unwrap()
}

pub(in crate::error_handlers) fn failure(props: &[(&str, &str)], error: &str) -> JobFailure {
    let instance = InstanceId::of_process("10.0.0.1", 7);
    let at = chrono::DateTime::UNIX_EPOCH.fixed_offset();
    let configuration = Arc::new(configuration(props));
    let key = RunKey::new(Fire::Scheduled(0), ExecutionSource::Failover);
    let run = Arc::new(RunInfo::new(key, configuration.clone(), instance.clone(), vec![3], at));
    JobFailure::new(configuration, instance, Failed::Item(3), error, at).of_run(run)
}

/// Answers one request with this status line and body, and returns the request.
async fn robot(answer: &'static str, body: &'static str) -> (String, tokio::task::JoinHandle<String>) {
    let (address, request) = answering(answer, body).await;
    (format!("{address}/send?access_token=hush"), request)
}

#[tokio::test]
async fn a_failure_is_posted_as_text() {
    let (address, request) = robot("200 OK", r#"{"errcode":0,"errmsg":"ok"}"#).await;
    WeChat::default().handle(&failure(&[("wechat.webhook", &address)], "\"quoted\" 错误\nsecond line")).await.unwrap();
    let request = request.await.unwrap();
    let (head, body) = request.split_once("\r\n\r\n").unwrap();
    assert!(head.starts_with("POST /send?access_token=hush HTTP/1.1"), "{head}");
    assert!(head.to_lowercase().contains("content-type: application/json"), "{head}");
    let body: serde_json::Value = serde_json::from_str(body).unwrap();
    assert_eq!(body["msgtype"], "text");
    let content = "Job 'reports': item 3 failed on 10.0.0.1@-@7 at 1970-01-01T00:00:00+00:00 (fire of \
                   1970-01-01T00:00:00+00:00, FAILOVER, task reports@-@3@-@READY@-@10.0.0.1@-@7): \"quoted\" \
                   错误\nsecond line";
    assert_eq!(body["text"]["content"], content);
}

#[tokio::test]
async fn a_robot_with_a_keyword_and_a_secret_gets_both() {
    let (address, request) = robot("200 OK", r#"{"errcode":0}"#).await;
    let props =
        [("dingtalk.webhook", address.as_str()), ("dingtalk.keyword", "[ALARM]"), ("dingtalk.secret", "SECabc")];
    DingTalk::default().handle(&failure(&props, "no")).await.unwrap();
    let request = request.await.unwrap();
    assert!(request.starts_with("POST /send?access_token=hush&timestamp="), "{request}");
    assert!(request.lines().next().unwrap().contains("&sign="), "{request}");
    assert!(request.contains(r#""content":"[ALARM]Job 'reports'"#), "{request}");
}

#[tokio::test]
async fn a_text_that_is_longer_than_the_service_takes_is_cut_between_two_characters() {
    const TAKEN: &str = r#"{"errcode":0}"#;
    let error = format!("the start 错误{}", "错".repeat(20_000));
    let content = async |request: tokio::task::JoinHandle<String>| {
        let request = request.await.unwrap();
        let body: serde_json::Value = serde_json::from_str(request.split_once("\r\n\r\n").unwrap().1).unwrap();
        (request.len(), body["text"]["content"].as_str().unwrap().to_owned())
    };
    let (address, request) = robot("200 OK", TAKEN).await;
    WeChat::default().handle(&failure(&[("wechat.webhook", &address)], &error)).await.unwrap();
    let (_, text) = content(request).await;
    assert!((2_046..=2_048).contains(&text.len()), "{} bytes", text.len());
    assert!(text.contains("the start 错误") && text.ends_with("错…"), "{text}");

    let (address, request) = robot("200 OK", TAKEN).await;
    let props = [("dingtalk.webhook", address.as_str()), ("dingtalk.keyword", "[ALARM]")];
    DingTalk::default().handle(&failure(&props, &error)).await.unwrap();
    let (whole, text) = content(request).await;
    assert!(whole < 20_000 && text.len() > 17_990, "{whole} and {} bytes", text.len());
    assert!(text.starts_with("[ALARM]Job 'reports'") && text.ends_with("错…"), "{text}");
}

#[test]
fn the_signature_is_that_of_the_service() {
    // Computed by ElasticJob 3.0.5.
    let mut url = reqwest::Url::parse("http://robot/").unwrap();
    url.query_pairs_mut().append_pair("sign", &sign("SECabc", 1_700_000_000_000));
    assert_eq!(url.query(), Some("sign=jcUpW0QmtKduN03n4JqQ0PBosVjqnM8gU7fIIvsDmCM%3D"));
}

#[tokio::test]
async fn what_the_service_refuses_is_an_error_that_does_not_tell_the_address() {
    let cases = [
        ("200 OK", r#"{"errcode":310000,"errmsg":"keywords not in content"}"#, "310000 keywords not in content"),
        ("500 Internal Server Error", "oops", "answered 500 Internal Server Error: oops"),
        ("200 OK", "<html>", "not understood: <html>"),
        ("302 Found\r\nlocation: /?access_token=hush", "/?access_token=hush", "302 Found: redirects are not followed"),
    ];
    for (answer, body, expected) in cases {
        let (address, request) = robot(answer, body).await;
        let error =
            WeChat::default().handle(&failure(&[("wechat.webhook", &address)], "no")).await.unwrap_err().to_string();
        request.await.unwrap();
        assert!(error.contains(expected) && !error.contains("hush"), "{error}");
    }
    let nobody = TcpListener::bind("127.0.0.1:0").await.unwrap().local_addr().unwrap();
    let address = format!("http://{nobody}/?access_token=hush");
    let error =
        WeChat::default().handle(&failure(&[("wechat.webhook", &address)], "no")).await.unwrap_err().to_string();
    assert!(error.starts_with(&format!("the webhook at {nobody}: error sending request")), "{error}");
    assert!(!error.contains("hush"), "{error}");
}

#[tokio::test]
async fn an_answer_that_does_not_end_is_given_up() {
    let address = trickling(Duration::from_millis(50)).await;
    let props = [
        ("wechat.webhook", address.as_str()),
        ("wechat.connectTimeoutMilliseconds", "400"),
        ("wechat.readTimeoutMilliseconds", "400"),
    ];
    let failure = failure(&props, "no");
    let handler = WeChat::default();
    let handled = tokio::time::timeout(Duration::from_secs(20), handler.handle(&failure)).await;
    let error = handled.expect("the handler is held for ever").unwrap_err().to_string();
    assert!(!error.contains(&address), "{error}");
}

#[test]
fn what_is_wrong_with_the_options_is_told_at_start() {
    let problems = |props: &[(&str, &str)]| {
        DingTalk::default().check(&configuration(props)).iter().map(ToString::to_string).collect::<Vec<_>>()
    };
    assert!(problems(&[])[0].starts_with("props.dingtalk.webhook: is missing"));
    let wrong = problems(&[
        ("dingtalk.webhook", "no address"),
        ("dingtalk.connectTimeoutMillisecond", "0"),
        ("dingtalk.readTimeoutMilliseconds", "soon"),
    ]);
    assert_eq!(wrong.len(), 3, "{wrong:?}");
    assert!(wrong[0].contains("'***'") && !wrong[0].contains("no address"), "{wrong:?}");
    let older = "props.dingtalk.connectTimeoutMillisecond: '0': expected milliseconds";
    assert!(wrong[1].starts_with(older), "the name that was given: {wrong:?}");
    assert_eq!(problems(&[("dingtalk.webhook", "https://oapi.example.com/robot")]), Vec::<String>::new());
}
