//! Listens, and serves until the end.

use std::net::SocketAddr;
use std::time::Duration;

use axum::Extension;
use elasticjob_ports::Port;

use crate::access::OwnAddress;
use crate::app::{App, Console, ConsoleError};

/// How long a shutdown waits for answers that are under way.
const GRACE: Duration = Duration::from_secs(10);

/// A console that listens.
#[derive(Debug)]
pub struct Listening {
    console: Console,
    port: Port,
    address: SocketAddr,
}

impl Console {
    /// Listens on the address of the options.
    ///
    /// # Errors
    /// [`ConsoleError::Listen`].
    pub async fn listen(self) -> Result<Listening, ConsoleError> {
        let address = self.app().options.listen;
        let listen = |cause| ConsoleError::Listen { address, cause };
        let port = Port::listen(address, "the console").await.map_err(listen)?;
        let address = port.address().map_err(listen)?;
        Ok(Listening { console: self, port, address })
    }
}

/// Writes what waits for the data file.
async fn close_data(app: &App) {
    let Some(data) = &app.options.data else { return };
    for registry in app.registries.values() {
        registry.close_kept(GRACE).await;
    }
    data.storage().close().await;
}

impl Listening {
    /// The address. With port 0 it has the port that was free.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The address of the start page.
    pub fn url(&self) -> String {
        format!("http://{}{}/", self.address, self.console.app().options.base_path)
    }

    /// Serves until `end` completes, within the [limits of the port](elasticjob_ports::Limits). Streams end at once then,
    /// other answers have 10 s.
    pub async fn serve(self, end: impl Future<Output = ()> + Send + 'static) {
        let app = self.console.app().clone();
        let ending = app.ending.clone();
        let ended = {
            let ending = ending.clone();
            async move {
                end.await;
                ending.cancel();
            }
        };
        let router = self.console.router().layer(Extension(OwnAddress(self.address)));
        let served = self.port.serve(router, ended);
        let overtime = async {
            ending.cancelled().await;
            tokio::time::sleep(GRACE).await;
        };
        tokio::select! {
            () = served => {}
            () = overtime => {}
        }
        close_data(&app).await;
    }
}
