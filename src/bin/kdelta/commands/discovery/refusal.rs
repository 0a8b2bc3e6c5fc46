//! kubectl's text for a discovery request that the server refuses.

use kdelta::kubeconfig;
use kdelta::listwatch::{self, Status};

/// Returns the error with kubectl's message about credentials: for discovery, it is not the server's.
pub(super) fn with_kubectls_text(error: kubeconfig::Error) -> kubeconfig::Error {
    match error {
        kubeconfig::Error::Server(listwatch::Error::Unauthorized(status)) if status.code.is_some() => {
            let message = "the server has asked for the client to provide credentials".to_owned();
            kubeconfig::Error::Server(listwatch::Error::Unauthorized(Status { message, ..status }))
        }
        error => error,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn refused_credentials_have_kubectls_text() {
        let text = |code| {
            let status = Status { code, message: "Unauthorized".into(), ..Status::default() };
            with_kubectls_text(kubeconfig::Error::Server(listwatch::Error::Unauthorized(status))).to_string()
        };
        assert_eq!(text(Some(401)), "the server has asked for the client to provide credentials");
        assert_eq!(text(None), "Unauthorized", "an error of the program's own");
    }
}
