//! `kdelta explain`: the documentation of a resource type or of its fields, from the server's `OpenAPI` documents.

mod group_version;
mod jsonpath_nodes;
mod subject;

use std::io::Write;

use kdelta::api::{Discovery, ResolveError};
use kdelta::listwatch::{Error, Status};
use kdelta::object::ApiResource;
use kdelta::wire::openapi::{GroupVersionKind, OpenApiIndex, OpenApiV2, OpenApiV3};

use super::reporter::Reporter;
use crate::exit::{Hint, Verbatim};
use crate::session::Session;
use crate::settings::{Explain, ExplainFormat};
use crate::view::explain::{Field, Topic, fields_of, plaintext, plaintext_v2};
use subject::{Subject, SubjectError, resource_name};

/// Prints the explanation. As in kubectl, its heading is printed even if a field does not exist.
pub(crate) async fn run(
    session: &Session,
    request: &Explain,
    reporter: &Reporter,
    mut out: impl Write,
) -> anyhow::Result<()> {
    let mut text = String::new();
    let explained = explain(session.cluster().discovery(), request, reporter, &mut text).await;
    out.write_all(text.as_bytes())?;
    out.flush()?;
    explained
}

/// Returns the fields of a resource or field, such as `pods.spec`. They may repeat.
///
/// # Errors
/// There is no such resource, or no documents of version 3.
pub(crate) async fn fields(
    discovery: &Discovery,
    of: &str,
    api_version: Option<&str>,
) -> anyhow::Result<Vec<Field>> {
    let resources = resources(discovery, &resource_name(of)?).await?;
    let subject = Subject::read(of, &resources, api_version.is_some())?.with_version(api_version)?;
    fields_below(discovery, &subject.resource, &subject.path).await
}

/// Returns the fields of objects of a type below the field with this path. They may repeat.
///
/// # Errors
/// There are no documents of version 3.
pub(crate) async fn fields_below(
    discovery: &Discovery,
    of: &ApiResource,
    path: &[String],
) -> anyhow::Result<Vec<Field>> {
    let document = document_v3(discovery, &discovery.openapi_index().await?, of).await?;
    let ApiResource { group, version, resource, .. } = of;
    Ok(fields_of(&document, &Topic { group, version, resource, path, recursive: false })?)
}

async fn explain(
    discovery: &Discovery,
    request: &Explain,
    reporter: &Reporter,
    text: &mut String,
) -> anyhow::Result<()> {
    let word = match request.fields.as_slice() {
        [word] => word,
        [] => anyhow::bail!(
            "You must specify the type of resource to explain. Use \"kdelta api-resources\" for a complete list of supported resources."
        ),
        _ => anyhow::bail!("We accept only this format: explain RESOURCE"),
    };
    let name = resource_name(word)?;
    let resources = resources(discovery, &name).await?;
    for other in discovery.alternatives(&name).await {
        let warning = format!("short name {name:?} could also match lower priority resource {other}");
        reporter.messages().warning(&warning);
    }
    let subject = Subject::read(word, &resources, request.api_version.is_some())?;
    let index = match &request.format {
        ExplainFormat::PlaintextV2 => return explain_v2(discovery, request, subject, text).await,
        format => match (discovery.openapi_index().await, format) {
            (Ok(index), _) => index,
            // A server without documents of version 3.
            (Err(_), ExplainFormat::Plaintext) => return explain_v2(discovery, request, subject, text).await,
            (Err(error), _) => anyhow::bail!("failed to fetch list of groupVersions: {error}"),
        },
    };
    let subject = subject.with_version(request.api_version.as_deref())?;
    let document = document_v3(discovery, &index, &subject.resource).await?;
    if let ExplainFormat::Unknown(format) = &request.format {
        anyhow::bail!("unrecognized format: {format}");
    }
    Ok(plaintext(&document, &topic(&subject, request.recursive), text)?)
}

/// Returns the resources that a name may mean, in order of preference.
async fn resources(discovery: &Discovery, name: &str) -> anyhow::Result<Vec<ApiResource>> {
    if name.is_empty() {
        return Err(SubjectError::NoResource.into());
    }
    discovery.resources_for(name).await.map_err(|error| {
        if !matches!(error, ResolveError::Unknown { .. }) {
            return error.into();
        }
        let unknown = Verbatim(format!("the server doesn't have a resource type {name:?}"));
        match error.hint() {
            Some(hint) => anyhow::Error::new(unknown).context(Hint(hint)),
            None => unknown.into(),
        }
    })
}

fn topic(subject: &Subject, recursive: bool) -> Topic<'_> {
    let ApiResource { group, version, resource, .. } = &subject.resource;
    Topic { group, version, resource, path: &subject.path, recursive }
}

async fn document_v3(
    discovery: &Discovery,
    index: &OpenApiIndex,
    of: &ApiResource,
) -> anyhow::Result<OpenApiV3> {
    let ApiResource { group, version, resource, .. } = of;
    match discovery.openapi_v3(index, group, version).await {
        Ok(Some(document)) => Ok(document),
        Ok(None) => anyhow::bail!("couldn't find resource for \"{group}/{version}, Resource={resource}\""),
        Err(error) => {
            let path = if group.is_empty() { "api".to_owned() } else { format!("apis/{group}") };
            anyhow::bail!("failed to fetch openapi schema for {path}/{version}: {error}")
        }
    }
}

async fn explain_v2(
    discovery: &Discovery,
    request: &Explain,
    subject: Subject,
    text: &mut String,
) -> anyhow::Result<()> {
    let subject = subject.with_version(request.api_version.as_deref())?;
    let ApiResource { group, version, kind, .. } = subject.resource;
    let kind = GroupVersionKind { group, version, kind };
    let document = document_v2(discovery).await?;
    let schema = document.schema_of(&kind);
    let schema =
        schema.ok_or_else(|| anyhow::anyhow!("couldn't find resource for {:?}", kind.to_string()))?;
    Ok(plaintext_v2(&document, &kind, schema, &subject.path, request.recursive, text)?)
}

/// Requests the document of version 2. kubectl requests it in a format in which a refusal has no text, and has its own.
async fn document_v2(discovery: &Discovery) -> Result<OpenApiV2, Error> {
    discovery.openapi_v2().await.map_err(|error| match error {
        Error::Unauthorized(status) if status.code.is_some() => {
            let message = "the server has asked for the client to provide credentials".to_owned();
            Error::Unauthorized(Status { message, ..status })
        }
        error => error,
    })
}
