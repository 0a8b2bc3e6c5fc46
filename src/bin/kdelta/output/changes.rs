//! The lines below the row of an update: its changes in one of several forms, and the manager that made them.

use kdelta::diff::{json_patch, merge_patch, unified};
use kdelta::object::{ApiResource, JsonValue, Object};

use super::yaml;
use crate::view::{Colour, Details, escape_json, escape_line, masked_states, remove_noise};

/// The form of changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ChangeForm {
    /// A line for each changed field.
    Inline,
    /// A unified diff of the YAML before and after.
    Unified,
    /// A JSON Patch on one line.
    JsonPatch,
    /// A JSON Merge Patch on one line.
    MergePatch,
}

/// The options of printed changes.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ChangeOptions {
    pub(crate) form: ChangeForm,
    pub(crate) details: Details,
}

/// A line below a row, escaped.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct ChangeLine {
    pub(super) text: String,
    pub(super) colour: Option<Colour>,
    /// Whether it is printed in full on any terminal, because programs read it.
    pub(super) is_whole: bool,
}

impl ChangeLine {
    fn plain(text: String) -> Self {
        Self { text, colour: None, is_whole: false }
    }
}

impl ChangeOptions {
    /// Returns the lines of an update; none if no printed field has changed. Data of Secrets is masked unless it is
    /// requested.
    pub(super) fn lines(self, old: &Object, new: &Object, resource: &ApiResource) -> Vec<ChangeLine> {
        let mut lines = self.changed_fields(old, new, resource);
        if let Some(manager) = new.manager_since(old).filter(|_| !lines.is_empty()) {
            let text = format!("by {}", escape_line(&manager));
            lines.push(ChangeLine { text, colour: Some(Colour::Dim), is_whole: false });
        }
        lines
    }

    /// Returns [`ChangeOptions::lines`] without that of the manager.
    pub(super) fn changed_fields(
        self,
        old: &Object,
        new: &Object,
        resource: &ApiResource,
    ) -> Vec<ChangeLine> {
        if self.form == ChangeForm::Inline {
            let lines = self.details.lines(old, new, resource);
            lines.split_terminator('\n').map(|line| ChangeLine::plain(line.to_owned())).collect()
        } else {
            self.patch(old, new, resource)
        }
    }

    fn patch(self, old: &Object, new: &Object, resource: &ApiResource) -> Vec<ChangeLine> {
        let states = [old, new].map(Object::json_or_names);
        // Objects are valid UTF-8.
        let [old_json, new_json] =
            [&states[0], &states[1]].map(|json| str::from_utf8(json).unwrap_or_default());
        let masked = if self.details.secrets { None } else { masked_states(resource, old_json, new_json) };
        let [old_json, new_json] =
            masked.as_ref().map_or([old_json, new_json], |[old, new]| [old.as_str(), new.as_str()]);
        let skipped = self.details.skipped();
        let patch = match self.form {
            ChangeForm::Inline | ChangeForm::Unified => {
                let [from, to] = [old, new].map(|state| title(state, resource));
                let hunks = unified(&self.yaml(old_json), &self.yaml(new_json));
                return diff_lines(&from, &to, &hunks);
            }
            ChangeForm::JsonPatch => json_patch(old_json, new_json, skipped),
            ChangeForm::MergePatch => match merge_patch(old_json, new_json, skipped) {
                Some(patch) => patch,
                None => return vec![ChangeLine::plain("no merge patch can express this change".to_owned())],
            },
        };
        if matches!(patch.as_str(), "[]" | "{}") {
            return Vec::new();
        }
        vec![ChangeLine { text: escape_json(&patch).into_owned(), colour: None, is_whole: true }]
    }

    /// Returns the YAML of a state without the fields that are not printed.
    fn yaml(self, json: &str) -> String {
        let mut state = JsonValue::parse(json.as_bytes());
        if !self.details.noise {
            remove_noise(&mut state);
        }
        yaml::escaped_document(&state)
    }
}

/// Returns the name of a state in the head of a diff: `deployment.apps/web 4711`.
fn title(state: &Object, resource: &ApiResource) -> String {
    let name = format!("{}/{} {}", resource.group_kind_lower(), state.name(), state.resource_version());
    escape_line(name.trim_end())
}

/// Returns the lines of a unified diff.
fn diff_lines(from: &str, to: &str, hunks: &str) -> Vec<ChangeLine> {
    if hunks.is_empty() {
        return Vec::new();
    }
    let line = |text: String| {
        let colour = match text.as_bytes().first() {
            Some(b'-') => Some(Colour::Red),
            Some(b'+') => Some(Colour::Green),
            Some(b'@') => Some(Colour::Dim),
            _ => None,
        };
        ChangeLine { text, colour, is_whole: false }
    };
    let head = [format!("--- {from}"), format!("+++ {to}")];
    head.into_iter().chain(hunks.lines().map(str::to_owned)).map(line).collect()
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use kdelta::object::Ingest;
    use serde_json::{Value, json};

    use super::*;

    fn resource(plural: &str, kind: &str) -> ApiResource {
        ApiResource {
            group: String::new(),
            version: "v1".into(),
            resource: plural.into(),
            kind: kind.into(),
            namespaced: true,
        }
    }

    fn object(resource: &ApiResource, manager: &str, version: &str, rest: &Value) -> Object {
        let mut json = json!({"metadata": {"name": "web", "resourceVersion": version, "managedFields": [
            {"manager": manager, "time": format!("2026-11-21T10:00:{version:0>2}Z")}]}});
        json.as_object_mut().expect("an object").extend(rest.as_object().expect("an object").clone());
        let ingest = Ingest { record_manager: true, ..Ingest::of(resource.type_meta()) };
        Object::from_json(json.to_string().as_bytes(), &ingest).expect("an object")
    }

    fn options(form: ChangeForm) -> ChangeOptions {
        ChangeOptions { form, details: Details { noise: false, secrets: false } }
    }

    /// Returns the lines between two states.
    fn lines(options: ChangeOptions, plural: &str, kind: &str, old: &Value, new: &Value) -> Vec<ChangeLine> {
        let resource = resource(plural, kind);
        let (old, new) = (object(&resource, "old", "7", old), object(&resource, "new\u{1b}", "8", new));
        options.lines(&old, &new, &resource)
    }

    fn texts(lines: &[ChangeLine]) -> Vec<&str> {
        lines.iter().map(|line| line.text.as_str()).collect()
    }

    #[test]
    fn each_form_ends_with_the_manager() {
        let (old, new) =
            (json!({"spec": {"a": "1", "list": [1, 2]}}), json!({"spec": {"b": "\u{1b}", "list": [2]}}));
        let pods = |form| lines(options(form), "pods", "Pod", &old, &new);
        assert_eq!(
            texts(&pods(ChangeForm::Inline)),
            ["- spec.a: 1", "+ spec.b: ^[", "- spec.list[0]: 1", "by new^["]
        );
        assert_eq!(
            texts(&pods(ChangeForm::Unified)),
            [
                "--- pod/web 7",
                "+++ pod/web 8",
                "@@ -3,7 +3,6 @@",
                " metadata:",
                "   name: web",
                " spec:",
                "-  a: \"1\"",
                "+  b: \"\\e\"",
                "   list:",
                "-  - 1",
                "   - 2",
                "by new^["
            ]
        );
        let patch = pods(ChangeForm::JsonPatch);
        assert_eq!(
            texts(&patch),
            [
                r#"[{"op":"remove","path":"/spec/list/0"},{"op":"remove","path":"/spec/a"},{"op":"add","path":"/spec/b","value":"\u001b"}]"#,
                "by new^["
            ]
        );
        assert!(patch[0].is_whole && !patch[1].is_whole);
        assert_eq!(
            texts(&pods(ChangeForm::MergePatch)),
            [r#"{"spec":{"a":null,"b":"\u001b","list":[2]}}"#, "by new^["]
        );
    }

    #[test]
    fn noise_alone_has_no_lines() {
        let beat =
            |time: u8| json!({"status": {"conditions": [{"type": "Ready", "lastHeartbeatTime": time}]}});
        for form in [ChangeForm::Inline, ChangeForm::Unified, ChangeForm::JsonPatch, ChangeForm::MergePatch] {
            assert_eq!(lines(options(form), "nodes", "Node", &beat(1), &beat(2)), [], "{form:?}");
            let all = ChangeOptions { form, details: Details { noise: true, secrets: false } };
            let shown = lines(all, "nodes", "Node", &beat(1), &beat(2));
            assert!(texts(&shown).concat().contains("lastHeartbeatTime"), "{form:?} {shown:?}");
        }
    }

    #[test]
    fn secrets_are_masked_in_each_form() {
        let (old, new) = (
            json!({"data": {"k": "b2xk", "same": "c2FtZQ"}}),
            json!({"data": {"k": "bmV3", "same": "c2FtZQ"}}),
        );
        for form in [ChangeForm::Inline, ChangeForm::Unified, ChangeForm::JsonPatch, ChangeForm::MergePatch] {
            let masked = lines(options(form), "secrets", "Secret", &old, &new);
            let text = texts(&masked).join("\n");
            assert!(!text.contains("b2xk") && !text.contains("bmV3") && !text.contains("c2FtZQ"), "{text}");
            assert!(text.contains("***") && masked.len() > 1, "{form:?}: {text}");
            let open = ChangeOptions { form, details: Details { noise: false, secrets: true } };
            assert!(
                texts(&lines(open, "secrets", "Secret", &old, &new)).join("\n").contains("bmV3"),
                "{form:?}"
            );
        }
    }

    #[test]
    fn diff_is_coloured_as_usual() {
        let (old, new) = (json!({"a": "1"}), json!({"a": "2"}));
        let colours: Vec<_> = lines(options(ChangeForm::Unified), "pods", "Pod", &old, &new)
            .iter()
            .filter(|line| line.text.contains(['1', '2', '@']))
            .map(|line| line.colour)
            .collect();
        assert_eq!(colours, [Some(Colour::Dim), Some(Colour::Red), Some(Colour::Green), None]);
    }

    #[test]
    fn unknown_manager_has_no_line() {
        let pods = resource("pods", "Pod");
        let state = |value: u8| {
            let json = json!({"metadata": {"name": "web"}, "a": value}).to_string();
            Arc::new(Object::from_json(json.as_bytes(), &Ingest::of(pods.type_meta())).expect("an object"))
        };
        let lines = options(ChangeForm::Inline).lines(&state(1), &state(2), &pods);
        assert_eq!(texts(&lines), ["a: 1 → 2"]);
    }
}
