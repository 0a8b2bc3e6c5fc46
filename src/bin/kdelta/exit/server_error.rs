//! The messages and hints for the errors of lists and watches.

use kdelta::api::ResolveError;
use kdelta::{kubeconfig, listwatch};

/// Returns the error of a list or watch, however it is wrapped.
pub(super) fn server_error(error: &anyhow::Error) -> Option<&listwatch::Error> {
    let api_error = match error.downcast_ref::<ResolveError>() {
        Some(ResolveError::Discovery(error)) => Some(error),
        _ => error.downcast_ref::<kubeconfig::Error>(),
    };
    match api_error {
        Some(kubeconfig::Error::Server(error)) => Some(error),
        _ => error.downcast_ref(),
    }
}

/// Returns the message for an error of a list or watch, and a hint. `heading` precedes errors that kubectl does not know.
pub(super) fn listwatch_message(error: &listwatch::Error, heading: &str) -> (String, Option<&'static str>) {
    use listwatch::{Error, Status};
    let text = match (error.status(), error) {
        // Without a code no server responded. kubectl prints unavailable credentials without a prefix.
        (Some(status), Error::Unauthorized(_)) if status.code.is_none() => status.message.clone(),
        // A request that the client rejected, such as one with an invalid name.
        (Some(status), Error::Invalid(_)) if status.code.is_none() => format!("{heading}{}", status.message),
        (Some(status), Error::Unauthorized(_)) => {
            format!("error: You must be logged in to the server ({})", status.message)
        }
        (Some(status), _) if status.reason.is_empty() => format!("Error from server: {}", status.message),
        (Some(status), _) => format!("Error from server ({}): {}", status.reason, status.message),
        // kubectl's sentences about an unreachable server have no prefix.
        (None, error) if error.is_before_response() => error.to_string(),
        (None, error) => format!("{heading}{error}"),
    };
    let hint = match error {
        Error::Unauthorized(_) => Some("the credentials are missing, wrong or expired: log in again"),
        Error::Forbidden(_) => {
            Some("`kubectl auth can-i --list` shows your permissions; -n selects a namespace")
        }
        Error::NotFound(Status { name: Some(name), .. }) if name.contains(['*', '?']) => {
            Some("names can't be patterns: select objects with -l, --field-selector or --by")
        }
        Error::Refused(_) => Some("check the address in --server or in the context of the kubeconfig"),
        Error::TlsAlert(_) => Some("check the client certificate of the user in the kubeconfig"),
        Error::Tls(_) => {
            Some("set the authority that signed the server's certificate with --certificate-authority")
        }
        _ => None,
    };
    (text, hint)
}
