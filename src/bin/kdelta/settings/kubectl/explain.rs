//! The validated arguments of `kdelta explain`.

use crate::args::ExplainArgs;

/// `kdelta explain`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Explain {
    /// The words for the resource and field; only one is allowed.
    pub(crate) fields: Vec<String>,
    /// Whether the fields of fields are printed.
    pub(crate) recursive: bool,
    /// The group and version; `None` selects the preferred one.
    pub(crate) api_version: Option<String>,
    pub(crate) format: ExplainFormat,
}

/// The `-o` value of `kdelta explain`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum ExplainFormat {
    /// `plaintext`, from the documents of version 3.
    Plaintext,
    /// `plaintext-openapiv2`.
    PlaintextV2,
    /// Rejected once the resource is found, as in kubectl.
    Unknown(String),
}

impl Explain {
    pub(in crate::settings) fn read(args: &ExplainArgs) -> Self {
        Self {
            fields: args.fields.clone(),
            recursive: args.recursive,
            api_version: args.api_version.clone().filter(|version| !version.is_empty()),
            format: ExplainFormat::read(&args.output),
        }
    }
}

impl ExplainFormat {
    /// The names of the formats, for completion.
    pub(crate) const NAMES: &str = "plaintext,plaintext-openapiv2";

    fn read(text: &str) -> Self {
        match text {
            "plaintext" => Self::Plaintext,
            "plaintext-openapiv2" => Self::PlaintextV2,
            text => Self::Unknown(text.to_owned()),
        }
    }
}
