//! The requests for the visited objects.

use std::sync::Arc;

use kdelta::listwatch::Error;
use kdelta::object::Object;
use kdelta::wire::Representation;

use crate::commands::reporter::Reporter;
use crate::session::{Filter, Part, Session};
use crate::settings::{Print, Selection};

/// The requests for the visited objects.
#[derive(Clone, Copy)]
pub(in crate::commands) struct ObjectRequests<'a> {
    pub(in crate::commands) session: &'a Session,
    pub(in crate::commands) reporter: &'a Reporter,
    pub(in crate::commands) selection: &'a Selection,
    pub(in crate::commands) print: &'a Print,
    pub(in crate::commands) representation: Representation,
    /// Whether a name that does not exist is no error.
    pub(in crate::commands) allows_missing: bool,
}

/// An object whose turn has come.
pub(in crate::commands) struct VisitedObject {
    /// The part of this object alone. It has no name if the object of a file has none.
    pub(in crate::commands) part: Part,
    pub(in crate::commands) object: Arc<Object>,
    /// Whether the object was listed with others, before their turns.
    pub(in crate::commands) is_listed: bool,
}

impl ObjectRequests<'_> {
    /// Requests an object by its name.
    ///
    /// # Errors
    /// The request fails, or there is no such object.
    pub(in crate::commands) async fn get(&self, part: &Part) -> Result<Arc<Object>, Error> {
        let source =
            self.session.source(part, self.selection, self.print, self.representation, Filter::default());
        let name = part.name.as_deref().unwrap_or_default();
        let (attempts, observer) = (source.attempts(), self.reporter.one_shot_observer(part));
        attempts.repeat(&observer, async || source.get_named(name).await).await
    }
}
