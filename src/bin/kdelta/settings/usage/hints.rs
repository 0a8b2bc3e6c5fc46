//! The texts around the message of a usage error: kubectl's explanation above it, and the help or a hint below it.

use super::UsageError;

impl UsageError {
    /// Returns kubectl's explanation that is printed above the error.
    pub(crate) fn preface(&self) -> Option<&'static str> {
        matches!(self, Self::NoResource).then_some(
            "You must specify the type of resource to get. Use \"kdelta api-resources\" for a complete list of supported resources.",
        )
    }

    /// Whether kubectl names the help of the command below the error.
    pub(crate) fn names_help(&self) -> bool {
        matches!(self, Self::NoResource | Self::UnexpectedArguments(_) | Self::RolloutAction(_))
    }

    /// Returns a suggestion.
    pub(crate) fn hint(&self) -> Option<String> {
        match self {
            Self::UnknownIndex { similar, .. } => {
                similar.as_ref().map(|flag| format!("did you mean {flag}?"))
            }
            Self::HistoryOfMany => Some(
                "`kdelta watch TYPE --from DIR --since TIME --changes` prints the versions of all objects"
                    .to_owned(),
            ),
            Self::ChangesOfNames => {
                Some("`kdelta history TYPE/NAME` prints the versions of one object".to_owned())
            }
            Self::NoLiveHistory | Self::NoLiveChanges => {
                Some("`kdelta record TYPE --to DIR` records a cluster".to_owned())
            }
            Self::MixedForms => Some("write TYPE NAME or TYPE/NAME; a name has no slash".to_owned()),
            _ => None,
        }
    }
}
