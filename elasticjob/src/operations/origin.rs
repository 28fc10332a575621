//! From where an operator acts.

use serde_json::Value;

use crate::fire::TraceParent;

/// From where an operator acts: the decision log has it with each action.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Origin {
    surface: Surface,
    address: Option<String>,
    request: Option<String>,
    trace_parent: Option<TraceParent>,
}

/// The surface on which an operator acts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Surface {
    /// A page of the console.
    Page,
    /// A REST API.
    Rest,
    /// The command line.
    CommandLine,
}

impl Surface {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Page, Self::Rest, Self::CommandLine];

    /// Its name. It never changes.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Page => "page",
            Self::Rest => "rest",
            Self::CommandLine => "cli",
        }
    }
}

impl Origin {
    /// An operator who uses this.
    pub fn new(surface: Surface) -> Self {
        Self { surface, address: None, request: None, trace_parent: None }
    }

    /// The address of the host that the operator acts from, where it is known.
    #[must_use]
    pub fn address(self, address: Option<String>) -> Self {
        Self { address, ..self }
    }

    /// The id of the request that asks for the action, as the answer and the log of the server have it.
    #[must_use]
    pub fn request(self, request: Option<String>) -> Self {
        Self { request, ..self }
    }

    /// The trace context of the request that asks for the action. The decision log does not have it.
    #[must_use]
    pub fn caused_by(self, trace_parent: Option<TraceParent>) -> Self {
        Self { trace_parent, ..self }
    }

    /// The trace context of the request that asks for the action.
    pub fn trace_parent(&self) -> Option<TraceParent> {
        self.trace_parent
    }

    /// What the record of an action has of it, by name.
    pub(super) fn detail(&self) -> impl Iterator<Item = (String, Value)> {
        let texts = [
            ("surface", Some(self.surface.as_str())),
            ("address", self.address.as_deref()),
            ("request", self.request.as_deref()),
        ];
        texts.into_iter().filter_map(|(name, text)| Some((name.to_owned(), text?.into())))
    }
}
