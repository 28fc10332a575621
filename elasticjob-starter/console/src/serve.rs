//! Listens, and serves until the end.

use std::net::SocketAddr;
use std::time::Duration;

use tokio::net::TcpListener;

use crate::app::{App, Console, ConsoleError};

/// How long a shutdown waits for answers that are under way.
const GRACE: Duration = Duration::from_secs(10);

/// A console that listens.
#[derive(Debug)]
pub struct Listening {
    console: Console,
    listener: TcpListener,
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
        let listener = TcpListener::bind(address).await.map_err(listen)?;
        let address = listener.local_addr().map_err(listen)?;
        Ok(Listening { console: self, listener, address })
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

    /// Serves until `end` completes. Streams end at once then, other answers have 10 s.
    ///
    /// # Errors
    /// [`ConsoleError::Serve`].
    pub async fn serve(self, end: impl Future<Output = ()> + Send + 'static) -> Result<(), ConsoleError> {
        let app = self.console.app().clone();
        let ending = app.ending.clone();
        let service = self.console.router().into_make_service_with_connect_info::<SocketAddr>();
        let ended = {
            let ending = ending.clone();
            async move {
                end.await;
                ending.cancel();
            }
        };
        let server = axum::serve(self.listener, service).with_graceful_shutdown(ended);
        let overtime = async {
            ending.cancelled().await;
            tokio::time::sleep(GRACE).await;
        };
        let served = tokio::select! {
            served = server => served.map_err(ConsoleError::Serve),
            () = overtime => Ok(()),
        };
        close_data(&app).await;
        served
    }
}
