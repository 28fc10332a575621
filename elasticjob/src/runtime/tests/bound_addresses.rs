//! Addresses of failure handlers, to which secrets of the program go: those in the registry count only where the program says so.

use tokio::net::TcpListener;
use tokio::task::JoinHandle;

use super::super::ShutdownMode;
use super::bound_commands::written;
use super::*;
use crate::http_client::server::answering;

/// A port, and a task that ends as soon as a client connects.
async fn trap() -> (String, JoinHandle<()>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port().to_string();
    (port, tokio::spawn(async move { drop(listener.accept().await.unwrap()) }))
}

fn failing() -> ItemHandler {
    item_handler(|_| async { Err::<(), _>("boom") })
}

#[tokio::test]
async fn failures_go_to_the_webhook_of_the_program_alone() {
    let environment = environment();
    let registry = environment.embedded_registry();
    let (ours, request) = answering("200 OK", r#"{"errcode":0}"#).await;
    let (theirs, sprung) = trap().await;
    let job = each_second("job", 1).job_error_handler_type("WECHAT");
    written(&registry, job.clone().prop("wechat.webhook", format!("http://127.0.0.1:{theirs}/"))).await;
    let mut running = scheduled(&environment, &registry, job.prop("wechat.webhook", ours), failing()).await;
    let called = soon(async {
        tokio::select! {
            request = request => request.unwrap(),
            _ = sprung => panic!("the webhook of the registry was called"),
        }
    });
    assert!(called.await.contains("boom"));
    running.shutdown(ShutdownMode::Now).await;
}

#[tokio::test]
async fn a_password_of_the_program_goes_to_its_mail_server_alone() {
    let environment = environment();
    let registry = environment.embedded_registry();
    let ((ours, called), (theirs, sprung)) = (trap().await, trap().await);
    let job = ["username", "from", "to"]
        .iter()
        .fold(each_second("job", 1), |job, option| job.prop(format!("email.{option}"), "a@b.c"));
    let job = job.job_error_handler_type("EMAIL").prop("email.host", "127.0.0.1").prop("email.useSsl", "false");
    written(&registry, job.clone().prop("email.port", theirs)).await;
    let local = job.prop("email.port", ours).prop("email.password", "hush");
    let mut running = scheduled(&environment, &registry, local, failing()).await;
    soon(async {
        tokio::select! {
            called = called => called.unwrap(),
            _ = sprung => panic!("the password goes to the server of the registry"),
        }
    })
    .await;
    running.shutdown(ShutdownMode::Now).await;
}

#[tokio::test]
async fn a_webhook_of_the_registry_needs_the_permission_of_the_program() {
    let environment = environment();
    let (webhook, request) = answering("200 OK", r#"{"errcode":0}"#).await;
    let registry = environment.embedded_registry();
    let of_java = each_second("job", 1).job_error_handler_type("WECHAT").prop("wechat.webhook", webhook.clone());
    written(&registry, of_java.clone()).await;
    let local = each_second("job", 1).build().unwrap();
    let mut refused = ScheduleJobBootstrap::new(&environment, registry.clone(), local, failing()).unwrap();
    let why = refused.schedule().await.unwrap_err().to_string();
    assert!(why.contains("props.wechat.webhook: is missing"), "{why}");
    assert!(why.contains("`props.wechat.webhook.from-registry: true` in the settings of the program"), "{why}");
    assert!(!why.contains(&webhook), "{why}");
    // The program may name the handler itself, too, and leave the address to the registry.
    for allowed in [each_second("job", 1), each_second("job", 1).job_error_handler_type("WECHAT")] {
        let allowed = allowed.prop("wechat.webhook.from-registry", "true").build().unwrap();
        let made = ScheduleJobBootstrap::new(&environment, registry.clone(), allowed, failing());
        drop(made.unwrap_or_else(|why| panic!("{why}")));
    }
    let registry = environment.embedded_registry();
    written(&registry, of_java).await;
    let allowed = each_second("job", 1).prop("wechat.webhook.from-registry", "true");
    let mut job = scheduled(&environment, &registry, allowed, failing()).await;
    assert!(soon(request).await.unwrap().contains("boom"));
    job.shutdown(ShutdownMode::Now).await;
}
