//! The commands of kubectl that are not kdelta's, each answered with the command to use.

use std::ffi::OsString;

/// The commands, with the reason why kdelta does not have them.
const COMMANDS: [(&[&str], &str); 7] = [
    (
        &[
            "annotate",
            "apply",
            "autoscale",
            "certificate",
            "cordon",
            "create",
            "delete",
            "drain",
            "edit",
            "expose",
            "label",
            "patch",
            "replace",
            "scale",
            "set",
            "taint",
            "uncordon",
        ],
        NEVER_CHANGES,
    ),
    (&["describe"], "kdelta does not describe objects"),
    (&["attach", "cp", "debug", "exec", "port-forward"], "kdelta does not connect to pods"),
    (&["logs"], "kdelta does not read logs"),
    (&["top"], "kdelta does not measure usage"),
    (&["config", "kuberc", "plugin"], "kdelta does not manage the configuration of kubectl"),
    (&["alpha", "auth", "cluster-info", "diff", "kustomize", "proxy"], "kdelta does not have this command"),
];

/// The actions of `kubectl rollout`, with the reason why kdelta does not have them; the action that it has has none.
const ROLLOUT_ACTIONS: [(&str, Option<&str>); 6] = [
    ("history", Some("kdelta does not show revisions")),
    ("pause", Some(NEVER_CHANGES)),
    ("restart", Some(NEVER_CHANGES)),
    ("resume", Some(NEVER_CHANGES)),
    ("status", None),
    ("undo", Some(NEVER_CHANGES)),
];

const NEVER_CHANGES: &str = "kdelta never changes objects";

/// Further commands of kubectl, which get no advice: similar commands of kdelta may be meant.
const OTHERS: [&str; 3] = ["completion", "options", "run"];

/// Flags whose values must not be repeated, and flags that kubectl does not have.
const WITHHELD: [&str; 7] =
    ["--token", "--password", "--username", "--demo", "--all-contexts", "--color", "--namespace-selector"];

/// The longest line that is repeated.
const LONGEST: usize = 200;

/// Returns the message for a command of kubectl; `None` for any other word. `words` is the command line, which starts
/// with the program.
pub(super) fn advice(command: &str, words: &[OsString]) -> Option<String> {
    let (_, reason) = COMMANDS.iter().find(|(commands, _)| commands.contains(&command))?;
    Some(message(reason, command, words))
}

/// Returns the message for an action of `rollout` that only kubectl has; `None` for any other. `words` is a command line of
/// `rollout`.
pub(super) fn rollout_advice(words: &[OsString]) -> Option<String> {
    let action = |word: &OsString| ROLLOUT_ACTIONS.iter().find(|(action, _)| word == action);
    let (action, reason) = words.iter().find_map(action)?;
    Some(message((*reason)?, &format!("rollout {action}"), words))
}

/// Returns the message with the line to use, which is `command` if the words can't be repeated.
fn message(reason: &str, command: &str, words: &[OsString]) -> String {
    let line = repeated(words.get(1..).unwrap_or_default()).unwrap_or_else(|| command.to_owned());
    format!("error: {reason}: use `kubectl {line}`")
}

/// Whether a word is a command of kubectl only.
pub(super) fn is_kubectls(word: &str) -> bool {
    OTHERS.contains(&word) || COMMANDS.iter().any(|(commands, _)| commands.contains(&word))
}

/// Returns the arguments as a line for a shell; `None` if they need quotes, are long, or may hold a secret.
fn repeated(words: &[OsString]) -> Option<String> {
    let words: Vec<&str> = words.iter().map(|word| word.to_str()).collect::<Option<_>>()?;
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_./=:,@%+".contains(c);
    let is_withheld = |word: &str| {
        let flag = word.split_once('=').map_or(word, |(flag, _)| flag);
        WITHHELD.contains(&flag)
    };
    let are_harmless =
        words.iter().all(|word| !word.is_empty() && word.chars().all(is_plain) && !is_withheld(word));
    let line = words.join(" ");
    (are_harmless && line.len() <= LONGEST).then_some(line)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn advice_for(line: &str) -> Option<String> {
        let words: Vec<OsString> = line.split(' ').map(OsString::from).collect();
        let command = line.split(' ').skip(1).find(|word| !word.starts_with('-'))?;
        advice(command, &words)
    }

    #[test]
    fn harmless_arguments_are_repeated() {
        for (line, expected) in [
            (
                "kdelta describe pod web -n shop",
                "error: kdelta does not describe objects: use `kubectl describe pod web -n shop`",
            ),
            ("kdelta apply -f a.yaml", "error: kdelta never changes objects: use `kubectl apply -f a.yaml`"),
            ("kdelta logs", "error: kdelta does not read logs: use `kubectl logs`"),
            ("kdelta exec web -- sh -c $x", "error: kdelta does not connect to pods: use `kubectl exec`"),
            ("kdelta label po x a=b --token=t", "error: kdelta never changes objects: use `kubectl label`"),
            ("kdelta top \u{1b}[31m", "error: kdelta does not measure usage: use `kubectl top`"),
        ] {
            assert_eq!(advice_for(line).as_deref(), Some(expected), "{line}");
        }
        assert_eq!(advice_for(&format!("kdelta logs {}", "x".repeat(500))), advice_for("kdelta logs"));
    }

    #[test]
    fn actions_of_rollout_are_kubectls_apart_from_status() {
        let advice = |line: &str| rollout_advice(&line.split(' ').map(OsString::from).collect::<Vec<_>>());
        for (line, expected) in [
            (
                "kdelta rollout undo deploy/web --to-revision=2",
                "error: kdelta never changes objects: use `kubectl rollout undo deploy/web --to-revision=2`",
            ),
            (
                "kdelta -n shop rollout restart $x",
                "error: kdelta never changes objects: use `kubectl rollout restart`",
            ),
            (
                "kdelta rollout history deploy/web",
                "error: kdelta does not show revisions: use `kubectl rollout history deploy/web`",
            ),
        ] {
            assert_eq!(advice(line).as_deref(), Some(expected), "{line}");
        }
        for line in ["kdelta rollout status restart", "kdelta rollout frob", "kdelta rollout"] {
            assert_eq!(advice(line), None, "{line}");
        }
    }

    #[test]
    fn misspelt_commands_get_no_advice() {
        for line in ["kdelta wacth pods", "kdelta descrieb pod", "kdelta run x"] {
            assert_eq!(advice_for(line), None, "{line}");
        }
    }
}
