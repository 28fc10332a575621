use tokio::io::AsyncWriteExt;
use tokio::net::TcpListener;

use super::*;
use crate::api::fixture::context;
use crate::http_client::server::{answering, request_of, trickling};

fn props<'a>(uri: &'a str, method: &'a str) -> Vec<(&'static str, &'a str)> {
    vec![("http.uri", uri), ("http.method", method)]
}

async fn run(props: &[(&str, &str)]) -> JobResult {
    Http::default().process(context("任务", "a=b", "0=北京", props)).await
}

fn header<'a>(request: &'a str, name: &str) -> Option<&'a str> {
    let head = request.split("\r\n\r\n").next().unwrap_or_default();
    let headers = head.lines().skip(1).filter_map(|line| line.split_once(": "));
    headers.filter(|(known, _)| known.eq_ignore_ascii_case(name)).map(|(_, value)| value).next()
}

#[tokio::test]
async fn the_other_side_is_told_which_item_it_is() {
    let (address, request) = answering("200 OK", "done").await;
    run(&props(&format!("{address}/settle?all=1"), "GET")).await.unwrap();
    let request = request.await.unwrap();
    assert!(request.starts_with("GET /settle?all=1 HTTP/1.1\r\n"), "{request}");
    assert!(request.is_ascii(), "{request}");
    let json: serde_json::Value = serde_json::from_str(header(&request, "shardingContext").unwrap()).unwrap();
    assert_eq!((json["jobName"].as_str(), json["shardingParameter"].as_str()), (Some("任务"), Some("北京")));
    assert_eq!(header(&request, "content-type"), None);
}

#[tokio::test]
async fn data_are_sent_with_their_type_or_as_java_sends_them() {
    for (content_type, expected) in [("application/json", "application/json"), ("", FORM)] {
        let (address, request) = answering("204 No Content", "").await;
        let mut props = props(&address, "POST");
        props.extend([("http.data", " {\"月\": 1}"), ("http.content.type", content_type)]);
        run(&props).await.unwrap();
        let request = request.await.unwrap();
        assert!(request.starts_with("POST / HTTP/1.1\r\n") && request.ends_with("\r\n\r\n {\"月\": 1}"), "{request}");
        assert_eq!(header(&request, "content-type"), Some(expected));
    }
}

#[tokio::test]
async fn a_status_of_400_and_more_is_a_failure_with_the_start_of_what_was_answered() {
    let (address, request) = answering("404 Not Found", "no such order").await;
    let uri = address.replace("http://", "http://clerk:hush@");
    let error = run(&props(&format!("{uri}/settle?token=hush"), "GET")).await.unwrap_err().to_string();
    request.await.unwrap();
    assert_eq!(error, format!("GET {address}/settle: answered 404 Not Found: no such order"));

    static LONG: std::sync::LazyLock<String> = std::sync::LazyLock::new(|| "x".repeat(100_000));
    let (address, _) = answering("500 Internal Server Error", &LONG).await;
    let error = run(&props(&address, "GET")).await.unwrap_err().to_string();
    assert!(error.len() < 2 * START_OF_BODY && error.ends_with("xxx"), "{} bytes", error.len());
}

#[tokio::test]
async fn a_redirect_is_a_failure_that_says_where_it_leads_and_nobody_is_asked_there() {
    let (there, asked) = answering("200 OK", "done").await;
    let location = format!("{}/new/settle?token=hush", there.replace("http://", "http://clerk:hush@"));
    for status in ["301 Moved Permanently", "302 Found", "303 See Other", "307 Temporary Redirect"] {
        let answer = format!("{status}\r\nlocation: {location}").leak();
        let (address, request) = answering(answer, "it is at ?token=hush").await;
        let error = run(&props(&format!("{address}/settle"), "POST")).await.unwrap_err().to_string();
        request.await.unwrap();
        let advice = "redirects are not followed, set http.uri to where it leads";
        assert_eq!(error, format!("POST {address}/settle: answered {status}, to {there}/new/settle: {advice}"));
    }
    assert!(!asked.is_finished());

    let (address, _) = answering("302 Found\r\nlocation: login", "").await;
    let error = run(&props(&format!("{address}/shop/settle"), "GET")).await.unwrap_err().to_string();
    assert!(error.contains(&format!("answered 302 Found, to {address}/shop/login: ")), "{error}");
    let (address, _) = answering("304 Not Modified", "").await;
    let error = run(&props(&address, "GET")).await.unwrap_err().to_string();
    assert!(error.ends_with("answered 304 Not Modified: "), "{error}");
}

#[tokio::test]
async fn one_that_nobody_answers_fails_after_its_time() {
    let silent = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let uri = format!("http://{}/", silent.local_addr().unwrap());
    let mut hasty = props(&uri, "GET");
    hasty.push(("http.read.timeout.milliseconds", "50"));
    let error = run(&hasty).await.unwrap_err().to_string();
    assert!(error.starts_with(&format!("GET {uri}: ")) && error.contains("timed out"), "{error}");

    drop(silent);
    let error = run(&props(&uri, "GET")).await.unwrap_err().to_string();
    assert!(error.contains("error sending request") && error.contains("refused"), "{error}");
}

#[tokio::test]
async fn an_answer_that_stops_half_way_fails_too() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let uri = format!("http://{}/", listener.local_addr().unwrap());
    let mut props = props(&uri, "GET");
    props.push(("http.read.timeout.milliseconds", "50"));
    let run = run(&props);
    let half = async {
        let (mut stream, _) = listener.accept().await.unwrap();
        request_of(&mut stream).await;
        stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nhalf").await.unwrap();
        std::future::pending::<()>().await;
    };
    tokio::select! {
        ended = run => assert!(ended.unwrap_err().to_string().contains("timed out")),
        () = half => {}
    }
}

#[tokio::test]
async fn a_run_that_is_cut_off_gives_the_request_up() {
    use tokio::io::AsyncReadExt;
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let uri = format!("http://{}/", listener.local_addr().unwrap());
    let context = context("job", "", "", &props(&uri, "POST"));
    let token = context.cancellation_token().clone();
    let run = tokio::spawn(async move { Http::default().process(context).await });
    let (mut stream, _) = listener.accept().await.unwrap();
    request_of(&mut stream).await;
    token.cancel();
    let error = run.await.unwrap().unwrap_err().to_string();
    assert_eq!(error, format!("POST {uri}: given up, as the run was cut off"));
    assert_eq!(stream.read(&mut [0; 8]).await.unwrap(), 0, "the connection is closed");
}

#[test]
fn what_is_wrong_with_the_properties_is_told_at_start() {
    let problems = |props: &[(&str, &str)]| {
        let context = context("job", "", "", props);
        Http::default().check(context.configuration()).iter().map(ToString::to_string).collect::<Vec<_>>()
    };
    assert_eq!(
        problems(&[("http.url", "https://shop.example/settle"), ("http.method", "PATCH")]),
        Vec::<String>::new()
    );
    let missing = problems(&[]);
    assert_eq!(missing.len(), 2, "{missing:?}");
    assert!(missing[0].starts_with("props.http.uri: is missing: a job of type HTTP needs it"), "{missing:?}");
    assert!(missing[1].starts_with("props.http.method: is missing"), "{missing:?}");
    let wrong = problems(&[
        ("http.uri", "ftp://host/"),
        ("http.method", "post"),
        ("http.content.type", "a\nb"),
        ("http.connect.timeout.milliseconds", "soon"),
        ("http.read.timeout.milliseconds", "0"),
    ]);
    let expected = [
        "props.http.uri: '***': expected an address, http://host/path: its scheme is neither http nor https",
        "props.http.method: 'post': expected a method in capitals, such as GET or POST",
        "props.http.content.type: 'a\nb': expected a content type such as application/json",
        "props.http.connect.timeout.milliseconds: 'soon': expected milliseconds, 1 or more",
        "props.http.read.timeout.milliseconds: '0': expected milliseconds, 1 or more",
    ];
    assert_eq!(wrong, expected);
    let reason = |uri: &str| problems(&props(uri, "GET")).concat();
    assert_eq!(
        reason("http://clerk:hush@host:port/"),
        "props.http.uri: '***': expected an address, http://host/path: invalid port number"
    );
    for uri in ["hush:clerk@host/settle", "host/settle?token=hush", "http://?token=hush"] {
        assert!(reason(uri).contains("'***'") && !reason(uri).contains("hush"), "{}", reason(uri));
    }
    let data = problems(&[("http.uri", "http://host/"), ("http.method", "GET"), ("http.data", "x")]);
    assert_eq!(data, ["props.http.data: is not sent with GET: remove it, or use POST, PUT, PATCH or DELETE"]);
}

#[tokio::test]
async fn an_answer_that_does_not_end_is_given_up() {
    let address = trickling(std::time::Duration::from_millis(50)).await;
    let mut props = props(&address, "GET");
    props.push(("http.total.timeout.milliseconds", "700"));
    let ended = tokio::time::timeout(std::time::Duration::from_secs(20), run(&props)).await;
    let error = ended.expect("the item is held for ever").unwrap_err().to_string();
    assert!(error.ends_with("the answer did not end within 700 ms (http.total.timeout.milliseconds)"), "{error}");
}

#[tokio::test]
async fn an_answer_that_is_too_long_is_given_up() {
    let address = trickling(std::time::Duration::ZERO).await;
    let limits = Limits { connect: std::time::Duration::from_secs(20), read: std::time::Duration::from_secs(20) };
    let client = HttpClients::default().with(limits).await.unwrap();
    let mut answer = client.get(&address).send().await.unwrap();
    let error = start_of_body(&mut answer, 10, 1_000).await.unwrap_err().to_string();
    assert_eq!(error, "the answer has more than 1000 bytes");
}
