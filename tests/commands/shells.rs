//! The scripts of `kdelta completions` in their shells.

use std::os::unix::fs::symlink;
use std::process::Command;

use crate::support::{DemoServer, Kdelta, TestEnv, eventually};

/// A demo, a home with the program in its PATH, and the text before each line.
struct Shell {
    env: TestEnv,
    demo: DemoServer,
}

impl Shell {
    fn new() -> Self {
        let env = TestEnv::new();
        symlink(env!("CARGO_BIN_EXE_kdelta"), env.home().join("kdelta")).expect("a link");
        for (shell, file) in
            [("bash", "kdelta.bash"), ("fish", "kdelta.fish"), ("zsh", "_kdelta"), ("nushell", "kdelta.nu")]
        {
            env.file(file, &env.kdelta(&["completions", shell]).finish().quiet_success());
        }
        let demo = DemoServer::start(&env, &["--speed", "0.01"]);
        Self { env, demo }
    }

    /// Runs a script in a shell.
    fn run(&self, shell: &[&str], script: &str) -> String {
        let system = std::env::var("PATH").unwrap_or_default();
        let mut command = Command::new(shell[0]);
        command.env_clear().env("HOME", self.env.home()).current_dir(self.env.home());
        command.env("PATH", format!("{}:{system}", self.env.home().display())).env("TERM", "dumb");
        command.args(&shell[1..]).args(["-c", script]);
        Kdelta::other(command).finish().quiet_success()
    }

    /// The same for a script that must offer candidates: one that prints `nothing` is repeated, since a slow cluster
    /// times out silently.
    #[track_caller]
    fn offer(&self, shell: &[&str], script: &str, nothing: &str) -> String {
        eventually(&format!("an offer of {script:?}"), || {
            Some(self.run(shell, script)).filter(|output| output != nothing)
        })
    }
}

/// Splits a line like bash: at blanks, and around every run of `=` and `:`.
fn pieces(line: &str) -> Vec<String> {
    let mut pieces = Vec::new();
    for word in line.split(' ') {
        let mut piece = String::new();
        let mut of_breaks = false;
        for char in word.chars() {
            if (char == '=' || char == ':') != of_breaks && !piece.is_empty() {
                pieces.push(std::mem::take(&mut piece));
            }
            of_breaks = char == '=' || char == ':';
            piece.push(char);
        }
        pieces.push(piece);
    }
    pieces
}

#[test]
#[cfg_attr(not(has_bash), ignore = "needs bash")]
fn bash_completes_words_that_it_splits() {
    let shell = Shell::new();
    let bash = |line: &str, nothing: &str| {
        let words: Vec<String> = pieces(line).iter().map(|piece| format!("'{piece}'")).collect();
        let script = format!(
            "source kdelta.bash\nCOMP_LINE='{line}' COMP_POINT={} COMP_CWORD={} COMP_WORDS=({})\n_kdelta kdelta\n\
             printf '%s\\n' \"${{COMPREPLY[@]}}\"",
            line.len(),
            words.len() - 1,
            words.join(" "),
        );
        shell.offer(&["bash", "--norc", "--noprofile"], &script, nothing)
    };
    let on = format!("kdelta -s {} -n shop", shell.demo.url);
    for (line, replies) in [
        ("kdelta api".to_owned(), &["api-resources", "api-versions"][..]),
        (format!("{on} get dep"), &["deploy", "deployments"]),
        (format!("{on} get deploy "), &["checkout", "payments"]),
        (format!("{on} get deploy/che"), &["deploy/checkout"]),
        (format!("{on} get pods -l app=c"), &["checkout"]),
        (format!("{on} get pods --by label:a"), &["app="]),
        (format!("{on} get pods --by=label:app=p"), &["payments"]),
        (format!("{on} get pods --by lab"), &["label:"]),
        (format!("{on} get pods --by field:spec.nodeN"), &["spec.nodeName="]),
        (format!("{on} get pods -o jsonpath={{.items[*].spec.nodeN"), &["{.items[*].spec.nodeName}"]),
        ("kdelta get pods --color=a".to_owned(), &["always", "auto"]),
        ("./kdelta get pods -o 'k".to_owned().replace('\'', ""), &["kyaml"]),
    ] {
        let output = bash(&line, "\n");
        assert_eq!(output.lines().collect::<Vec<_>>(), replies, "{line}");
    }
    // Contexts need no cluster request.
    assert_eq!(bash("kdelta get --context ", ""), "\n");
}

#[test]
#[cfg_attr(not(has_bash), ignore = "needs bash")]
fn bash_gets_nospace_and_file_directives() {
    let shell = Shell::new();
    let options = |line: &str| {
        let words = line.replace(' ', "' '");
        let script = format!(
            "source kdelta.bash\ncompopt() {{ echo \"$*\"; }}\nCOMP_WORDS=('{words}') COMP_CWORD=$((${{#COMP_WORDS[@]}} - 1))\n_kdelta"
        );
        shell.run(&["bash", "--norc", "--noprofile"], &script)
    };
    for (line, reported) in [
        ("kdelta get pods --by nod", "-o nospace\n"),
        ("kdelta get pods --kubeconfig ", "-o default\n"),
        ("kdelta get pods -o ", ""),
    ] {
        let output = options(line);
        assert_eq!(output, reported, "{line}");
    }
}

#[test]
#[cfg_attr(not(has_fish), ignore = "needs fish")]
fn fish_completes_with_descriptions() {
    let shell = Shell::new();
    let fish = |line: &str| {
        shell.offer(&["fish", "--no-config"], &format!("source kdelta.fish; complete -C '{line}'"), "")
    };
    let on = format!("kdelta -s {} -n shop", shell.demo.url);
    for (line, output) in [
        (format!("{on} get deploy "), "checkout\npayments\n"),
        (format!("{on} get replicas"), "replicasets\tReplicaSet, apps/v1\n"),
        (format!("{on} get pods --by=label:app=p"), "--by=label:app=payments\n"),
        (format!("{on} get pods --sort-by .spec.nodeN"), ".spec.nodeName\tstring\n"),
        (format!("{on} get pods --kubeconfig kdelta.b"), "kdelta.bash\n"),
    ] {
        let found = fish(&line);
        assert_eq!(found, output, "{line}");
    }
}

#[test]
#[cfg_attr(not(has_zsh), ignore = "needs zsh")]
fn zsh_passes_the_words_to_its_completion() {
    let shell = Shell::new();
    // Outside a line editor, the test captures the candidates where the script passes them to zsh.
    let zsh = |line: &str| {
        let words = line.replace(' ', "' '");
        let script = format!(
            "compadd() {{ print -r -- \"${{(@)*[1,-4]}}\" ; print -rl -- \"${{(@)values}}\" }}\n_files() {{ print files }}\n\
             source ./_kdelta\nwords=('{words}'); CURRENT=${{#words}}\n_kdelta"
        );
        shell.offer(&["zsh", "-f"], &script, "-l -d\n\n")
    };
    let on = format!("kdelta -s {} -n shop", shell.demo.url);
    for (line, output) in [
        (format!("{on} get deploy "), "-l -d\ncheckout\npayments\n"),
        (format!("{on} get pods --by label:a"), "-l -S  -d\nlabel:app=\n"),
        (
            format!("{on} get pods -o jsonpath={{.items[*].spec.nodeN"),
            "-l -S  -d\njsonpath={.items[*].spec.nodeName}\n",
        ),
        (format!("{on} get pods --kubeconfig "), "files\n"),
    ] {
        let found = zsh(&line);
        assert_eq!(found, output, "{line}");
    }
}

#[test]
#[cfg_attr(not(has_nu), ignore = "needs nu")]
fn nushell_uses_the_script_only_for_kdelta() {
    let shell = Shell::new();
    let nu = |line: &str| {
        let words = line.replace(' ', "' '");
        let script = format!(
            "source kdelta.nu; do $env.config.completions.external.completer ['{words}'] | to json --raw"
        );
        shell.offer(&["nu", "--no-config-file"], &script, "[]\n")
    };
    let on = format!("kdelta -s {} -n shop", shell.demo.url);
    for (line, output) in [
        (
            format!("{on} get deploy "),
            r#"[{"value":"checkout","description":""},{"value":"payments","description":""}]"#,
        ),
        (format!("{on} get replicas"), r#"[{"value":"replicasets","description":"ReplicaSet, apps/v1"}]"#),
        (format!("{on} get pods --kubeconfig "), "null"),
        ("ls ".to_owned(), "null"),
    ] {
        let found = nu(&line);
        assert_eq!(found.trim_end(), output, "{line}");
    }
}
