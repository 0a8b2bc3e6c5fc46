//! The named formats of strings.

use super::declaration::{Declaration, MISMATCH, global, member};
use crate::query::cel::kubernetes::NamedFormat;
use crate::query::cel::value::Value;

pub(super) const DECLARATIONS: &[Declaration] = &[
    global("format.named", "string -> optional<format>", |_, arguments| match arguments {
        [Value::Text(name)] => {
            let format = NAMES.iter().find(|(known, _)| *known == &**name);
            Ok(format.map_or(Value::Optional(None), |(_, format)| Value::some(Value::Format(*format))))
        }
        _ => Err(MISMATCH),
    }),
    global("format.dns1123Label", "-> format", |_, _| Ok(Value::Format(NamedFormat::Label))),
    global("format.dns1123Subdomain", "-> format", |_, _| Ok(Value::Format(NamedFormat::Subdomain))),
    global("format.dns1035Label", "-> format", |_, _| Ok(Value::Format(NamedFormat::OldLabel))),
    global("format.qualifiedName", "-> format", |_, _| Ok(Value::Format(NamedFormat::QualifiedName))),
    global("format.dns1123LabelPrefix", "-> format", |_, _| Ok(Value::Format(NamedFormat::LabelPrefix))),
    global("format.dns1123SubdomainPrefix", "-> format", |_, _| {
        Ok(Value::Format(NamedFormat::SubdomainPrefix))
    }),
    global("format.dns1035LabelPrefix", "-> format", |_, _| Ok(Value::Format(NamedFormat::OldLabelPrefix))),
    global("format.labelValue", "-> format", |_, _| Ok(Value::Format(NamedFormat::LabelValue))),
    global("format.uri", "-> format", |_, _| Ok(Value::Format(NamedFormat::Uri))),
    global("format.uuid", "-> format", |_, _| Ok(Value::Format(NamedFormat::Uuid))),
    global("format.byte", "-> format", |_, _| Ok(Value::Format(NamedFormat::Byte))),
    global("format.date", "-> format", |_, _| Ok(Value::Format(NamedFormat::Date))),
    global("format.datetime", "-> format", |_, _| Ok(Value::Format(NamedFormat::DateTime))),
    member("validate", "format, string -> optional<list<string>>", |budget, arguments| match arguments {
        [Value::Format(format), Value::Text(text)] => {
            budget.read(text.len())?;
            if format.accepts(text) {
                return Ok(Value::Optional(None));
            }
            let problem = Value::made_text(format.problem().to_owned(), budget)?;
            Ok(Value::some(Value::made_list(vec![problem])))
        }
        _ => Err(MISMATCH),
    }),
];

const NAMES: [(&str, NamedFormat); 13] = [
    ("dns1123Label", NamedFormat::Label),
    ("dns1123Subdomain", NamedFormat::Subdomain),
    ("dns1035Label", NamedFormat::OldLabel),
    ("qualifiedName", NamedFormat::QualifiedName),
    ("dns1123LabelPrefix", NamedFormat::LabelPrefix),
    ("dns1123SubdomainPrefix", NamedFormat::SubdomainPrefix),
    ("dns1035LabelPrefix", NamedFormat::OldLabelPrefix),
    ("labelValue", NamedFormat::LabelValue),
    ("uri", NamedFormat::Uri),
    ("uuid", NamedFormat::Uuid),
    ("byte", NamedFormat::Byte),
    ("date", NamedFormat::Date),
    ("datetime", NamedFormat::DateTime),
];
