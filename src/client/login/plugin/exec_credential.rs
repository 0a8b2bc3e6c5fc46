//! The protocol of credential plugins: `ExecCredential` of `client.authentication.k8s.io`.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::client::login::bearer;
use crate::client::login::certificate::identity;
use crate::client::login::refresh::IssuedCredential;
use crate::kubeconfig::ExecCluster;

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ExecInfo<'a> {
    kind: &'static str,
    api_version: &'a str,
    spec: Spec<'a>,
}

#[derive(Serialize)]
struct Spec<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    cluster: Option<&'a ExecCluster>,
    interactive: bool,
}

/// Returns the value of `KUBERNETES_EXEC_INFO`.
pub(super) fn info(version: &str, cluster: Option<&ExecCluster>, interactive: bool) -> String {
    let requests =
        ExecInfo { kind: "ExecCredential", api_version: version, spec: Spec { cluster, interactive } };
    // Plain text and JSON values always serialize.
    serde_json::to_string(&requests).unwrap_or_default()
}

/// The output of a plugin. It has no `Debug`, since it holds a credential.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ExecCredential {
    #[serde(default)]
    kind: String,
    #[serde(default)]
    api_version: String,
    status: Option<Status>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", default)]
#[derive(Default)]
struct Status {
    token: Option<String>,
    client_certificate_data: Option<String>,
    client_key_data: Option<String>,
    expiration_timestamp: Option<String>,
}

/// Parses the stdout of a plugin with that API version.
///
/// # Errors
/// The problem, in client-go's words where it has some, without any of the output.
pub(super) fn read(stdout: &[u8], version: &str) -> Result<IssuedCredential, String> {
    let no_credential = || "decoding stdout: it is not an ExecCredential".to_owned();
    let message: ExecCredential = serde_json::from_slice(stdout).map_err(|_| no_credential())?;
    if message.kind != "ExecCredential" || message.api_version.is_empty() {
        return Err(no_credential());
    }
    if message.api_version != version {
        // A token may be in the wrong field: only text that looks like a version is shown.
        let is_plain = |c: char| c.is_ascii_alphanumeric() || "./-".contains(c);
        let shown: String = message.api_version.chars().filter(|c| is_plain(*c)).take(60).collect();
        return Err(format!(
            "exec plugin is configured to use API version {version}, plugin returned version {shown}"
        ));
    }
    let status = message.status.ok_or("exec plugin didn't return a status field")?;
    let set = |text: Option<String>| text.filter(|text| !text.is_empty());
    let (token, certificate, key) =
        (set(status.token), set(status.client_certificate_data), set(status.client_key_data));
    let identity = match (certificate, key) {
        (None, None) if token.is_none() => {
            return Err("exec plugin didn't return a token or cert/key pair".to_owned());
        }
        (None, None) => None,
        (Some(certificate), Some(key)) => {
            let read = identity(certificate.as_bytes(), key.as_bytes());
            Some(read.map_err(|why| format!("failed parsing client key/certificate: {why}"))?)
        }
        _ => return Err("exec plugin returned only certificate or key, not both".to_owned()),
    };
    let authorization =
        token.map(|token| bearer::header(&token)).transpose().map_err(|error| error.to_string())?;
    let expires = set(status.expiration_timestamp).map(|text| text.parse::<Timestamp>()).transpose();
    let expires = expires.map_err(|_| "decoding stdout: its expirationTimestamp is not a time (RFC 3339)")?;
    Ok(IssuedCredential { authorization, identity, expires })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const V1: &str = "client.authentication.k8s.io/v1";

    #[test]
    fn plugin_receives_only_the_documented_fields() {
        assert_eq!(
            info(V1, None, false),
            r#"{"kind":"ExecCredential","apiVersion":"client.authentication.k8s.io/v1","spec":{"interactive":false}}"#
        );
        let cluster = ExecCluster {
            server: "https://a".into(),
            certificate_authority_data: Some("cGVtCg==".into()),
            disable_compression: true,
            config: Some(json!({"audience": "x"})),
            ..ExecCluster::default()
        };
        assert_eq!(
            info(V1, Some(&cluster), true),
            concat!(
                r#"{"kind":"ExecCredential","apiVersion":"client.authentication.k8s.io/v1","spec":{"cluster":"#,
                r#"{"server":"https://a","certificate-authority-data":"cGVtCg==","disable-compression":true,"#,
                r#""config":{"audience":"x"}},"interactive":true}}"#
            )
        );
    }

    fn message(status: &serde_json::Value) -> Result<IssuedCredential, String> {
        let message = json!({"kind": "ExecCredential", "apiVersion": V1, "status": status});
        read(message.to_string().as_bytes(), V1)
    }

    #[test]
    fn a_token_may_expire() {
        let issued = message(&json!({"token": "t", "expirationTimestamp": "2026-11-21T12:00:00Z"})).unwrap();
        assert_eq!(issued.authorization.unwrap(), "Bearer t");
        assert_eq!(issued.expires, Some("2026-11-21T12:00:00Z".parse().unwrap()));
        assert_eq!(message(&json!({"token": "t"})).unwrap().expires, None);
    }

    #[test]
    fn invalid_plugin_output_is_reported_without_its_content() {
        for (status, words) in [
            (json!(null), "exec plugin didn't return a status field"),
            (json!({"token": ""}), "exec plugin didn't return a token or cert/key pair"),
            (
                json!({"token": "s3cret", "clientKeyData": "s3cret"}),
                "exec plugin returned only certificate or key, not both",
            ),
            (
                json!({"clientCertificateData": "s3cret", "clientKeyData": "s3cret"}),
                "failed parsing client key/certificate: tls: failed to find any PEM data in certificate input",
            ),
            (json!({"token": "s3cret\n"}), "the token holds characters that a header can't carry"),
            (
                json!({"token": "s3cret", "expirationTimestamp": "s3cret"}),
                "decoding stdout: its expirationTimestamp is not a time (RFC 3339)",
            ),
        ] {
            assert_eq!(message(&status).err().unwrap(), words);
        }
        for stdout in
            ["", "s3cret", "{}", r#"{"kind":"s3cret","apiVersion":"client.authentication.k8s.io/v1"}"#]
        {
            let words = read(stdout.as_bytes(), V1).err().unwrap();
            assert_eq!(words, "decoding stdout: it is not an ExecCredential", "{stdout}");
        }
        let other = r#"{"kind":"ExecCredential","apiVersion":"client.authentication.k8s.io/v1beta1"}"#;
        assert_eq!(
            read(other.as_bytes(), V1).err().unwrap(),
            "exec plugin is configured to use API version client.authentication.k8s.io/v1, \
             plugin returned version client.authentication.k8s.io/v1beta1"
        );
    }
}
