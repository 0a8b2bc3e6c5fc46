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
        "kdelta never changes objects",
    ),
    (&["describe"], "kdelta does not describe objects"),
    (&["attach", "cp", "debug", "exec", "port-forward"], "kdelta does not connect to pods"),
    (&["logs"], "kdelta does not read logs"),
    (&["top"], "kdelta does not measure usage"),
    (&["config", "kuberc", "plugin"], "kdelta does not manage the configuration of kubectl"),
    (&["alpha", "auth", "cluster-info", "diff", "kustomize", "proxy"], "kdelta does not have this command"),
];

/// Further commands of kubectl, which get no advice: similar commands of kdelta may be meant.
const OTHERS: [&str; 5] = ["completion", "options", "rollout", "run", "wait"];

/// Flags whose values must not be repeated, and flags that kubectl does not have.
const WITHHELD: [&str; 7] =
    ["--token", "--password", "--username", "--demo", "--all-contexts", "--color", "--namespace-selector"];

/// The longest line that is repeated.
const LONGEST: usize = 200;

/// Returns the message for a command of kubectl; `None` for any other word. `words` is the command line, which starts
/// with the program.
pub(super) fn advice(command: &str, words: &[OsString]) -> Option<String> {
    let (_, reason) = COMMANDS.iter().find(|(commands, _)| commands.contains(&command))?;
    let line = repeated(words.get(1..).unwrap_or_default()).unwrap_or_else(|| command.to_owned());
    Some(format!("error: {reason}: use `kubectl {line}`"))
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
    fn misspelt_commands_get_no_advice() {
        for line in
            ["kdelta wacth pods", "kdelta descrieb pod", "kdelta wait pods", "kdelta rollout status x"]
        {
            assert_eq!(advice_for(line), None, "{line}");
        }
    }
}
