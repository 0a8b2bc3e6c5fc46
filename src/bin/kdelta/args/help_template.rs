//! The layout of help texts.

/// Examples come before the flags, because users look for them first.
pub(super) const HELP: &str = "\
{about-with-newline}
{before-help}{usage-heading} {usage}

{all-args}{after-help}";
