//! Requests of `get --raw`.

use kdelta::api::{Request, Response};
use kdelta::clock::{Clock, TokioClock};
use kdelta::listwatch::Error;

use super::Cluster;
use crate::settings::RawPath;

/// The representations that kubectl accepts.
const ACCEPT: &str = "application/json, */*";

/// The attempts for a request that the server asks to repeat later, as many as kubectl makes.
const ATTEMPTS: usize = 10;

impl Cluster {
    /// Requests a path and returns the response once its body begins.
    ///
    /// # Errors
    /// The server's refusal or the network's failure.
    pub(crate) async fn raw(&self, path: &RawPath) -> Result<Response, Error> {
        let mut request = Request::new(&path.path).accept(ACCEPT).timeout(self.request_timeout());
        for (name, value) in &path.query {
            request = request.query(name.clone(), value);
        }
        let mut attempt = 1;
        loop {
            let error = match self.client.send(&request).await {
                Ok(response) => return Ok(response),
                Err(error) => error,
            };
            let Some(after) = error.retry_after().filter(|_| attempt < ATTEMPTS) else { return Err(error) };
            attempt += 1;
            TokioClock.sleep(after).await;
        }
    }
}
