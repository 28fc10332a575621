//! The conformance suite of tracing on all databases.

use std::sync::Arc;

use elasticjob_tests::databases::{Database, DatabaseServer, Kind};
use elasticjob_tests::harness::Harness;
use elasticjob_tests::tracing_suite::{cases, java_reads_and_writes_the_same_tables};
use tokio::sync::Mutex;

/// The server that cases share, started by the first that needs it.
type Shared = Arc<Mutex<Option<Arc<DatabaseServer>>>>;

async fn server(kind: Kind) -> Arc<DatabaseServer> {
    Arc::new(DatabaseServer::start(kind).await.unwrap_or_else(|error| panic!("{error}")))
}

async fn shared_server(shared: Shared, kind: Kind) -> Arc<DatabaseServer> {
    let mut shared = shared.lock().await;
    match &*shared {
        Some(server) => server.clone(),
        None => shared.insert(server(kind).await).clone(),
    }
}

pub fn add_tests(harness: &mut Harness) {
    for case in cases().into_iter().filter(|case| !case.on_servers) {
        harness
            .test(format!("sqlite::{}", case.name), move || async move { (case.play)(Database::file().await).await });
    }
    #[cfg(feature = "cloud")]
    harness.test("sqlite::events_and_statistics_of_carried_jobs_are_answered", || async {
        crate::carried_jobs::are_answered(Database::file().await).await;
    });
    for kind in [Kind::Postgresql, Kind::Mariadb] {
        let missing = DatabaseServer::find(kind).err();
        let shared = Shared::default();
        for case in cases() {
            let shared = shared.clone();
            let name = format!("{}::{}", kind.name(), case.name);
            harness.with_service(kind.name(), missing.clone(), name, move || async move {
                let server = if case.alone { server(kind).await } else { shared_server(shared, kind).await };
                (case.play)(Database::on(server, kind).await).await;
            });
        }
        #[cfg(feature = "cloud")]
        {
            let shared = shared.clone();
            let name = format!("{}::events_and_statistics_of_carried_jobs_are_answered", kind.name());
            harness.with_service(kind.name(), missing.clone(), name, move || async move {
                let database = Database::on(shared_server(shared, kind).await, kind).await;
                crate::carried_jobs::are_answered(database).await;
            });
        }
        let name = format!("{}::java_reads_and_writes_the_same_tables", kind.name());
        if missing.is_some() {
            harness.with_service(kind.name(), missing, name, async || ());
        } else {
            harness.with_java(name, move |peer| async move {
                let database = Database::on(shared_server(shared, kind).await, kind).await;
                java_reads_and_writes_the_same_tables(database, &peer).await;
            });
        }
    }
}
