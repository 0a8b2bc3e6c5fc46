//! A plain client of the real server, for what a test changes and for what it compares with: not the program's own,
//! which is what is being tested.

use reqwest::Method;
use serde_json::{Value, json};
use tokio::runtime::Runtime;

use super::{PATIENCE, Testbed};

/// What a server answered.
#[derive(Debug)]
pub(crate) struct Answer {
    /// The status code.
    pub(crate) code: u16,
    /// Without parameters.
    pub(crate) content_type: String,
    /// The body.
    pub(crate) text: String,
}

/// Speaks JSON to one server as its administrator. Its methods block, and fail the test when the server refuses.
#[derive(Debug)]
pub(crate) struct Api {
    runtime: Runtime,
    http: reqwest::Client,
    server: String,
    token: String,
}

impl Api {
    /// The administrator of that server.
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

    /// A server that asks for no credentials, such as the demo.
    pub(crate) fn open(server: &str) -> Self {
        let _first = rustls::crypto::ring::default_provider().install_default();
        let http = reqwest::Client::builder().no_proxy().timeout(PATIENCE).build().expect("a client");
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
        Self { runtime, http, server: server.to_owned(), token: String::new() }
    }

    /// Sends anything, and answers whatever comes.
    pub(crate) fn ask(&self, method: &str, path: &str, headers: &[(&str, &str)], body: &str) -> Answer {
        let method = Method::from_bytes(method.as_bytes()).expect("a method");
        let mut request = self.http.request(method, format!("{}{path}", self.server)).body(body.to_owned());
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        if !self.token.is_empty() {
            request = request.bearer_auth(&self.token);
        }
        self.runtime.block_on(async {
            let response = request.send().await.expect("an answer");
            let code = response.status().as_u16();
            let content_type = response.headers().get("content-type").and_then(|value| value.to_str().ok());
            let content_type =
                content_type.unwrap_or_default().split(';').next().unwrap_or_default().to_owned();
            Answer { code, content_type, text: response.text().await.expect("a body") }
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
            let response = request.send().await.expect("the testbed answers");
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

    /// GET; the test fails when the server refuses.
    #[track_caller]
    pub(crate) fn get(&self, path: &str) -> Value {
        self.must(Method::GET, path, "", None)
    }

    /// GET, for what may be missing.
    pub(crate) fn find(&self, path: &str) -> Option<Value> {
        self.send(Method::GET, path, "", None).ok()
    }

    /// Whether the server tells of that resource to who asks for all that there are, which may be later than it serves it.
    pub(crate) fn discovers(&self, group: &str, plural: &str) -> bool {
        let form = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";
        let text = self.ask("GET", "/apis", &[("Accept", form)], "").text;
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

    /// PATCH, as a JSON merge patch.
    #[track_caller]
    pub(crate) fn patch(&self, path: &str, changes: &Value) -> Value {
        self.must(Method::PATCH, path, "application/merge-patch+json", Some(changes))
    }

    /// DELETE, at once and not gracefully: no kubelet runs that would end it.
    #[track_caller]
    pub(crate) fn delete(&self, path: &str) -> Value {
        let now = json!({"gracePeriodSeconds": 0, "propagationPolicy": "Background"});
        self.must(Method::DELETE, path, "application/json", Some(&now))
    }

    /// The code of what the server answers to somebody else.
    pub(crate) fn ask_as(&self, path: &str, authorization: &str) -> u16 {
        let request = self.http.get(format!("{}{path}", self.server)).header("Authorization", authorization);
        self.runtime.block_on(async { request.send().await.expect("an answer").status().as_u16() })
    }

    /// Posts a form to anybody whose certificate the same authority has signed.
    #[track_caller]
    pub(crate) fn post_form(&self, url: &str, form: &str) -> Value {
        let request = self.http.post(url).body(form.to_owned());
        let request = request.header("Content-Type", "application/x-www-form-urlencoded");
        self.runtime.block_on(async {
            let answer = request.send().await.expect("an answer").text().await.expect("a body");
            serde_json::from_str(&answer).unwrap_or_else(|_| panic!("{url}: {answer}"))
        })
    }

    /// Creates a namespace that no other test uses and answers its name.
    #[track_caller]
    pub(crate) fn namespace(&self) -> String {
        let made = self.create("/api/v1/namespaces", &json!({"metadata": {"generateName": "test-"}}));
        made["metadata"]["name"].as_str().expect("a name").to_owned()
    }

    /// Creates a config map with one datum.
    #[track_caller]
    pub(crate) fn create_config_map(&self, namespace: &str, name: &str, labels: &Value) -> Value {
        let object = json!({"metadata": {"name": name, "labels": labels}, "data": {"n": "0"}});
        self.create(&config_maps(namespace), &object)
    }
}

/// The path of the config maps of a namespace.
pub(crate) fn config_maps(namespace: &str) -> String {
    format!("/api/v1/namespaces/{namespace}/configmaps")
}
