//! `kdelta version`: the versions of kdelta and of the server, in kubectl's fields.

use std::borrow::Cow;
use std::io::{self, Write};

use kdelta::api::VersionInfo;
use kdelta::object::JsonValue;

use super::refusal::with_kubectls_text;
use crate::commands::reporter::Reporter;
use crate::exit::ExitCode;
use crate::output::{TypedDocuments, TypedFormat, narrow_json};
use crate::session::Session;
use crate::settings::VersionFormat;
use crate::view::escape_line;

/// The release of kubectl that kdelta follows. The version of kdelta says nothing about the servers that it supports.
const FOLLOWED: (u64, u64) = (1, 36);

/// The largest supported difference between minor versions of kubectl and of the server.
const SUPPORTED_SKEW: u64 = 1;

/// A JSON object whose members are in kubectl's order.
type Members<'a> = Vec<(Cow<'a, str>, JsonValue<'a>)>;

/// Prints the version of kdelta.
pub(crate) fn client_version(format: VersionFormat, mut out: impl Write) -> anyhow::Result<ExitCode> {
    print(None, format, &mut out)?;
    Ok(ExitCode::Ok)
}

/// Prints the versions of kdelta and of the server. With `warnings_as_errors`, a server of a distant release is an error. If the server's is not available, that of kdelta is printed before
/// the error.
pub(crate) async fn versions(
    session: &Session,
    format: VersionFormat,
    warnings_as_errors: bool,
    reporter: &Reporter,
    mut out: impl Write,
) -> anyhow::Result<ExitCode> {
    let server = session.cluster().discovery().version_info().await.map_err(with_kubectls_text);
    print(server.as_ref().ok(), format, &mut out)?;
    match skew_warning(&server?.git_version)? {
        Some(warning) if warnings_as_errors => anyhow::bail!(warning),
        Some(warning) => reporter.messages().warning(&warning),
        None => {}
    }
    Ok(ExitCode::Ok)
}

fn print(server: Option<&VersionInfo>, format: VersionFormat, out: &mut impl Write) -> io::Result<()> {
    let client = client_info();
    match format {
        VersionFormat::Lines => {
            writeln!(out, "Client Version: {}", client.git_version)?;
            if let Some(server) = server {
                writeln!(out, "Server Version: {}", escape_line(&server.git_version))?;
            }
        }
        VersionFormat::Json => out.write_all(&narrow_json(&document(&client, server)))?,
        VersionFormat::Yaml => {
            TypedDocuments::new(TypedFormat::Yaml, true).document(&document(&client, server), out)?;
            // kubectl prints an empty line after the document.
            writeln!(out)?;
        }
    }
    out.flush()
}

fn document<'a>(client: &'a VersionInfo, server: Option<&'a VersionInfo>) -> JsonValue<'a> {
    let versions = [("clientVersion", Some(client)), ("serverVersion", server)];
    let members = versions.into_iter().filter_map(|(name, info)| Some((name, info?)));
    JsonValue::Object(
        members.map(|(name, info)| (Cow::Borrowed(name), JsonValue::Object(fields(info)))).collect(),
    )
}

/// Returns the version of this program. It was not built with Go, and a release has no other commit or date than its
/// version.
pub(super) fn client_info() -> VersionInfo {
    let mut info = VersionInfo::default();
    info.major = env!("CARGO_PKG_VERSION_MAJOR").into();
    info.minor = env!("CARGO_PKG_VERSION_MINOR").into();
    info.git_version = concat!("v", env!("CARGO_PKG_VERSION")).into();
    info.compiler = "rustc".into();
    info.platform = format!("{}/{}", std::env::consts::OS, go_architecture(std::env::consts::ARCH));
    info
}

/// Whether a server is of the release that kdelta follows.
pub(super) fn is_of_followed_release(server: &str) -> bool {
    major_and_minor(server) == Some(FOLLOWED)
}

/// Returns Go's word for an architecture.
fn go_architecture(architecture: &str) -> &str {
    match architecture {
        "x86_64" => "amd64",
        "aarch64" => "arm64",
        other => other,
    }
}

fn fields(info: &VersionInfo) -> Members<'_> {
    let optional = [
        ("emulationMajor", &info.emulation_major),
        ("emulationMinor", &info.emulation_minor),
        ("minCompatibilityMajor", &info.min_compatibility_major),
        ("minCompatibilityMinor", &info.min_compatibility_minor),
    ];
    let first = [("major", &info.major), ("minor", &info.minor)];
    let rest = [
        ("gitVersion", &info.git_version),
        ("gitCommit", &info.git_commit),
        ("gitTreeState", &info.git_tree_state),
        ("buildDate", &info.build_date),
        ("goVersion", &info.go_version),
        ("compiler", &info.compiler),
        ("platform", &info.platform),
    ];
    let optional = optional.into_iter().filter(|(_, value)| !value.is_empty());
    let fields = first.into_iter().chain(optional).chain(rest);
    fields.map(|(name, value)| (Cow::Borrowed(name), JsonValue::Text(Cow::Borrowed(value)))).collect()
}

/// The server's version can't be compared.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("server version error: could not parse {0:?} as version")]
struct UnknownVersion(String);

/// Returns kubectl's warning about a server that is too far from the release that kdelta follows.
fn skew_warning(server: &str) -> Result<Option<String>, UnknownVersion> {
    let (major, minor) = major_and_minor(server).ok_or_else(|| UnknownVersion(server.to_owned()))?;
    let (own_major, own_minor) = FOLLOWED;
    let is_supported = major == own_major && minor.abs_diff(own_minor) <= SUPPORTED_SKEW;
    Ok((!is_supported).then(|| {
        format!(
            "version difference between client ({own_major}.{own_minor}) and server ({major}.{minor}) exceeds the supported minor version skew of +/-{SUPPORTED_SKEW}"
        )
    }))
}

/// Parses the start of `v1.33.1-eks-1`; three numbers are required.
fn major_and_minor(version: &str) -> Option<(u64, u64)> {
    let version = version.strip_prefix('v').unwrap_or(version);
    let numbers = version.split(['-', '+']).next().unwrap_or_default();
    let mut numbers = numbers.split('.').map(|number| number.parse::<u64>().ok());
    let (major, minor, _patch) = (numbers.next()??, numbers.next()??, numbers.next()??);
    numbers.next().is_none().then_some((major, minor))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distant_server_gets_a_warning() {
        for version in ["v1.35.0", "v1.36.3", "1.37.2", "v1.36.1-gke.100+abc"] {
            assert_eq!(skew_warning(version), Ok(None), "{version}");
        }
        let warning = skew_warning("v1.33.1-eks-1").expect("a version").expect("a warning");
        assert_eq!(
            warning,
            "version difference between client (1.36) and server (1.33) exceeds the supported minor version skew of +/-1"
        );
        assert!(skew_warning("v2.36.0").is_ok_and(|warning| warning.is_some()));
        for version in ["", "v1.36", "x", "v1.36.99999999999999999999", "v1.x.0"] {
            assert!(skew_warning(version).is_err(), "{version}");
        }
    }

    #[test]
    fn fields_have_kubectls_order() {
        let mut server = VersionInfo::default();
        (server.major, server.minor) = ("1".into(), "36".into());
        server.emulation_minor = "35".into();
        server.git_version = "v1.36.3".into();
        let mut out = Vec::new();
        print(Some(&server), VersionFormat::Json, &mut out).expect("a Vec takes all");
        let text = String::from_utf8(out).expect("text");
        assert!(text.starts_with("{\n  \"clientVersion\": {\n    \"major\": \""), "{text}");
        let expected = "  \"serverVersion\": {\n    \"major\": \"1\",\n    \"minor\": \"36\",\n    \"emulationMinor\": \"35\",\n    \"gitVersion\": \"v1.36.3\",\n";
        assert!(text.contains(expected) && text.ends_with("\n  }\n}\n"), "{text}");
    }
}
