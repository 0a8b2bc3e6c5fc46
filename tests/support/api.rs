//! An HTTP client of the real server, for the changes that a test makes and for expected values. It is independent of
//! the program under test.

use reqwest::Method;
use serde_json::{Value, json};
use tokio::runtime::Runtime;

use super::{PATIENCE, Testbed};

/// A response of the server.
#[derive(Debug)]
pub(crate) struct Response {
    pub(crate) code: u16,
    /// The content type without parameters.
    pub(crate) content_type: String,
    pub(crate) text: String,
}

/// A JSON client that authenticates as the administrator of one server. Its methods block and fail the test on an
/// error response.
#[derive(Debug)]
pub(crate) struct Api {
    runtime: Runtime,
    http: reqwest::Client,
    server: String,
    token: String,
}

impl Api {
    /// Returns a client of the server that authenticates as its administrator.
    pub(crate) fn of(testbed: &Testbed) -> Self {
        let _first = rustls::crypto::ring::default_provider().install_default();
        let ca = std::fs::read(testbed.ca_file()).expect("the CA of the testbed");
        let ca = reqwest::Certificate::from_pem(&ca).expect("a certificate");
        let http = reqwest::Client::builder()
            .tls_certs_only([ca])
            .no_proxy()
            .timeout(PATIENCE)
            .build()
            .expect("a client");
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
        Self { runtime, http, server: testbed.server().to_owned(), token: testbed.token("admin").to_owned() }
    }

    /// Returns a client of a server that needs no credentials, such as the demo.
    pub(crate) fn open(server: &str) -> Self {
        let _first = rustls::crypto::ring::default_provider().install_default();
        let http = reqwest::Client::builder().no_proxy().timeout(PATIENCE).build().expect("a client");
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
        Self { runtime, http, server: server.to_owned(), token: String::new() }
    }

    /// Sends a request and returns the response, whatever its status.
    pub(crate) fn request(&self, method: &str, path: &str, headers: &[(&str, &str)], body: &str) -> Response {
        let method = Method::from_bytes(method.as_bytes()).expect("a method");
        let mut request = self.http.request(method, format!("{}{path}", self.server)).body(body.to_owned());
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        if !self.token.is_empty() {
            request = request.bearer_auth(&self.token);
        }
        self.runtime.block_on(async {
            let response = request.send().await.expect("a response");
            let code = response.status().as_u16();
            let content_type = response.headers().get("content-type").and_then(|value| value.to_str().ok());
            let content_type =
                content_type.unwrap_or_default().split(';').next().unwrap_or_default().to_owned();
            Response { code, content_type, text: response.text().await.expect("a body") }
        })
    }

    fn send(&self, method: Method, path: &str, kind: &str, body: Option<&Value>) -> Result<Value, Value> {
        let mut request = self
            .http
            .request(method, format!("{}{path}", self.server))
            .bearer_auth(&self.token)
            .header("Accept", "application/json");
        if let Some(body) = body {
            request = request.header("Content-Type", kind).body(body.to_string());
        }
        self.runtime.block_on(async {
            let response = request.send().await.expect("the testbed responds");
            let ok = response.status().is_success();
            let text = response.text().await.expect("a body");
            let value = serde_json::from_str(&text).unwrap_or(Value::String(text));
            if ok { Ok(value) } else { Err(value) }
        })
    }

    #[track_caller]
    fn must(&self, method: Method, path: &str, kind: &str, body: Option<&Value>) -> Value {
        let name = format!("{method} {path}");
        self.send(method, path, kind, body).unwrap_or_else(|status| panic!("{name}: {status}"))
    }

    /// GET; fails the test on an error response.
    #[track_caller]
    pub(crate) fn get(&self, path: &str) -> Value {
        self.must(Method::GET, path, "", None)
    }

    /// GET; returns `None` on an error response.
    pub(crate) fn find(&self, path: &str) -> Option<Value> {
        self.send(Method::GET, path, "", None).ok()
    }

    /// Returns whether the server's aggregated discovery lists the resource, which can be later than the server serves
    /// it.
    pub(crate) fn discovers(&self, group: &str, plural: &str) -> bool {
        let form = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";
        let text = self.request("GET", "/apis", &[("Accept", form)], "").text;
        let all: Value = serde_json::from_str(&text).unwrap_or_default();
        let each = |list: &Value| list.as_array().cloned().unwrap_or_default();
        let mut of_group = each(&all["items"]).into_iter().filter(|found| found["metadata"]["name"] == group);
        of_group.any(|found| {
            let mut resources =
                each(&found["versions"]).into_iter().flat_map(|version| each(&version["resources"]));
            resources.any(|resource| resource["resource"] == plural)
        })
    }

    /// POST.
    #[track_caller]
    pub(crate) fn create(&self, path: &str, object: &Value) -> Value {
        self.must(Method::POST, path, "application/json", Some(object))
    }

    /// PATCH with a JSON merge patch.
    #[track_caller]
    pub(crate) fn patch(&self, path: &str, changes: &Value) -> Value {
        self.must(Method::PATCH, path, "application/merge-patch+json", Some(changes))
    }

    /// DELETE without a grace period: no kubelet runs that could finish a graceful deletion.
    #[track_caller]
    pub(crate) fn delete(&self, path: &str) -> Value {
        let now = json!({"gracePeriodSeconds": 0, "propagationPolicy": "Background"});
        self.must(Method::DELETE, path, "application/json", Some(&now))
    }

    /// Returns the status code of a GET with other credentials.
    pub(crate) fn ask_as(&self, path: &str, authorization: &str) -> u16 {
        let request = self.http.get(format!("{}{path}", self.server)).header("Authorization", authorization);
        self.runtime.block_on(async { request.send().await.expect("a response").status().as_u16() })
    }

    /// Posts a form to a server whose certificate the testbed's authority signed.
    #[track_caller]
    pub(crate) fn post_form(&self, url: &str, form: &str) -> Value {
        let request = self.http.post(url).body(form.to_owned());
        let request = request.header("Content-Type", "application/x-www-form-urlencoded");
        self.runtime.block_on(async {
            let response = request.send().await.expect("a response").text().await.expect("a body");
            serde_json::from_str(&response).unwrap_or_else(|_| panic!("{url}: {response}"))
        })
    }

    /// Creates a namespace of the test's own and returns its name.
    #[track_caller]
    pub(crate) fn namespace(&self) -> String {
        let made = self.create("/api/v1/namespaces", &json!({"metadata": {"generateName": "test-"}}));
        made["metadata"]["name"].as_str().expect("a name").to_owned()
    }

    /// Creates a config map with one data key.
    #[track_caller]
    pub(crate) fn create_config_map(&self, namespace: &str, name: &str, labels: &Value) -> Value {
        let object = json!({"metadata": {"name": name, "labels": labels}, "data": {"n": "0"}});
        self.create(&config_maps(namespace), &object)
    }
}

/// Returns the path of the config maps of a namespace.
pub(crate) fn config_maps(namespace: &str) -> String {
    format!("/api/v1/namespaces/{namespace}/configmaps")
}
