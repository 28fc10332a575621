//! The page for a caller without a login under a name that is not one of the console.

use askama::Template;
use axum::extract::Request;
use axum::http::{Method, StatusCode};
use axum::response::Response;

use super::{Layout, login, with_status};
use crate::access::{HostName, Identity, Misnamed, OpenAddress};
use crate::app::App;
use crate::text::{Language, t};
use crate::theme::Theme;

#[derive(Template)]
#[template(path = "wrong_host.html")]
struct WrongHostPage {
    layout: Layout,
    /// The name under which the reader called, as the browser wrote it.
    host: String,
    /// The same as the setting takes it.
    name: Option<HostName>,
    /// Whether a proxy wrote the name in the place of the one that the browser called.
    is_of_proxy: bool,
    /// Where the reader is let in.
    open: Option<OpenAddress>,
}

impl WrongHostPage {
    /// The login, and then the page that the reader wanted.
    fn login(&self) -> String {
        self.layout.url(&login::path_to(&self.layout.place))
    }

    /// The page that the reader wanted, on another address.
    fn at(&self, address: &str) -> String {
        format!("{address}{}", self.layout.url(&self.layout.place))
    }
}

pub(crate) fn show(app: &App, misnamed: &Misnamed, request: &Request) -> Response {
    let text = app.texts.of(Language::of_request(request.headers(), app.options.language)).clone();
    // A browser comes back to a page by GET: to the answer of a form it cannot.
    let wanted = request.uri().path_and_query().filter(|_| request.method() == Method::GET);
    let place = wanted.map_or("/", |wanted| wanted.as_str());
    let reader = Identity::anonymous(Vec::new());
    let page = WrongHostPage {
        layout: Layout::new(app, &reader, text, Theme::of_request(request.headers()), place),
        host: misnamed.host().to_owned(),
        name: misnamed.name(),
        is_of_proxy: misnamed.is_of_proxy(),
        open: misnamed.open_address(&app.options),
    };
    with_status(StatusCode::MISDIRECTED_REQUEST, &page)
}
