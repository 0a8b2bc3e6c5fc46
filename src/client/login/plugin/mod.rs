//! A credential plugin of a kubeconfig (`exec`), run as client-go runs it.

mod child;
mod exec_credential;
mod lookup;
mod permission;
mod process_tree;

pub use self::process_tree::CredentialPlugins;

use std::io;
use std::time::Duration;

use tokio::process::Command;
use tokio::sync::Mutex;

use self::child::{ProcessOutput, RunError};
use self::lookup::NotFound;
use self::process_tree::Placement;
use super::excerpt::cut;
use super::refresh::{IssuedCredential, Issuer, REPORT_AFTER, RefreshRequest};
use super::shared::Registry;
use crate::client::notice::Notice;
use crate::kubeconfig::Error;
use crate::kubeconfig::file_format::{ExecConfig, ExecVariable, InteractiveMode};
use crate::kubeconfig::{Config, ExecCluster, PluginPolicy};
use crate::listwatch::system_words;

const NOT_INSTALLED: &str = "\n\nIt looks like you are trying to use a client-go credential plugin that is not \
     installed.\n\nTo learn more about this feature, consult the documentation available at:\n      \
     https://kubernetes.io/docs/reference/access-authn-authz/authentication/#client-go-credential-plugins";

/// The delay of the notice about a plugin that uses the terminal: the notice would appear in the middle of its
/// prompt.
const REPORT_AFTER_AT_TERMINAL: Duration = Duration::from_mins(1);

/// The plugins of this process: contexts with the same plugin share one login.
pub(super) static PLUGINS: Registry<Plugin> = Registry::new();

/// Held by the plugin that uses the terminal: two of them would take each other's input. An async mutex, since the
/// user may be prompted for minutes.
static TERMINAL: Mutex<()> = Mutex::const_new(());

/// The resolved command of a plugin.
pub(super) struct Plugin {
    version: String,
    command: String,
    arguments: Vec<String>,
    environment: Vec<(String, String)>,
    install_hint: String,
    mode: InteractiveMode,
    stdin_is_terminal: bool,
    cluster: Option<ExecCluster>,
    policy: PluginPolicy,
    /// The registry of its runs.
    plugins: CredentialPlugins,
}

impl Plugin {
    /// Returns the plugin of a validated configuration.
    pub(super) fn of(exec: &ExecConfig, config: &Config, plugins: CredentialPlugins) -> Self {
        let variable = |variable: &ExecVariable| (variable.name.clone(), variable.value.clone());
        let mode = exec.interactive_mode.as_deref().and_then(InteractiveMode::parse);
        Self {
            version: exec.api_version.clone().unwrap_or_default(),
            command: exec.command.clone().unwrap_or_default(),
            arguments: exec.args.clone().unwrap_or_default(),
            environment: exec.env.iter().flatten().map(variable).collect(),
            install_hint: plain(exec.install_hint.as_deref().unwrap_or_default()),
            mode: mode.unwrap_or(InteractiveMode::IfAvailable),
            stdin_is_terminal: config.stdin_is_terminal(),
            cluster: config.exec_cluster().cloned(),
            policy: config.plugin_policy().clone(),
            plugins,
        }
    }

    /// Returns a text of all settings that affect its result. It may contain credentials.
    pub(super) fn sharing_key(&self) -> String {
        let Self {
            version,
            command,
            arguments,
            environment,
            install_hint,
            mode,
            stdin_is_terminal,
            cluster,
            policy,
            plugins: _,
        } = self;
        let info = exec_credential::info(version, cluster.as_ref(), *stdin_is_terminal);
        format!("{command:?} {arguments:?} {environment:?} {install_hint:?} {mode:?} {policy:?} {info}")
    }

    /// Returns whether the plugin may prompt the user.
    fn is_interactive(&self) -> Result<bool, String> {
        match self.mode {
            InteractiveMode::Never => Ok(false),
            InteractiveMode::IfAvailable => Ok(self.stdin_is_terminal),
            InteractiveMode::Always if self.stdin_is_terminal => Ok(true),
            InteractiveMode::Always => {
                Err("exec plugin cannot support interactive mode: standard input is not a terminal"
                    .to_owned())
            }
        }
    }

    async fn run(&self, why: RefreshRequest<'_>) -> Result<IssuedCredential, String> {
        let interactive = self.is_interactive()?;
        permission::check(&self.policy, &self.command)?;
        let mut command = self.program().map_err(|missing| self.not_found(&missing))?;
        // In addition to this process's environment, which a child inherits.
        command.args(&self.arguments).envs(self.environment.iter().map(|(name, value)| (name, value)));
        let info = exec_credential::info(&self.version, self.cluster.as_ref(), interactive);
        command.env("KUBERNETES_EXEC_INFO", info);
        let mut words = String::new();
        let mut tell = |line: &str| {
            if why.listener.is_none() && words.len() < 2000 {
                words.push_str(line);
                words.push('\n');
            }
            why.tell(Notice::Plugin(line));
        };
        let ended = if interactive {
            let _terminal = TERMINAL.lock().await;
            let _asking = TerminalUse::begin(why);
            child::run(command, Placement::Terminal, &self.plugins, &mut tell).await
        } else {
            child::run(command, Placement::without_terminal(), &self.plugins, &mut tell).await
        };
        let ended = ended.map_err(|error| self.not_run(&error))?;
        if !ended.status.success() {
            return Err(self.failed(&ended, &words));
        }
        exec_credential::read(&ended.stdout, &self.version)
    }

    /// Returns the program of the command. Its `argv[0]` is the command as configured.
    fn program(&self) -> Result<Command, NotFound> {
        let mut command = Command::new(lookup::find(&self.command)?);
        #[cfg(unix)]
        command.arg0(&self.command);
        Ok(command)
    }

    /// Returns kubectl's message. It does not mention a program in a folder that is not searched, which is added.
    fn not_found(&self, missing: &NotFound) -> String {
        let command = &self.command;
        let hint = if self.install_hint.is_empty() { "" } else { "\n\n" };
        let words = format!("exec: executable {command} not found{NOT_INSTALLED}{hint}{}", self.install_hint);
        match missing {
            NotFound::Nowhere => words,
            NotFound::ByRelativeEntry(entry) => format!(
                "{words}\n\nPATH leads to {command} only through its relative entry {:?}, from which no plugin is run: \
                 make the entry absolute, or give the plugin's whole path.",
                entry.display().to_string()
            ),
        }
    }

    /// Shows only the program of the command line: arguments and environment may hold a credential.
    fn not_run(&self, error: &RunError) -> String {
        let command = &self.command;
        match error {
            RunError::Start(error) if error.kind() == io::ErrorKind::NotFound => {
                self.not_found(&NotFound::Nowhere)
            }
            RunError::Start(error) => format!("exec: fork/exec {command}: {}", system_words(error)),
            RunError::Io(error) => format!("exec: executable {command}: {}", system_words(error)),
            RunError::TooLong => format!("exec: executable {command} wrote too much to its stdout"),
        }
    }

    /// Omits the plugin's stderr if a listener has received it.
    fn failed(&self, ended: &ProcessOutput, words: &str) -> String {
        let code = ended.status.code();
        let end = code.map_or_else(|| "a signal".to_owned(), |code| format!("exit code {code}"));
        let words = cut(words);
        let colon = if words.is_empty() { "" } else { ": " };
        format!("exec: executable {} failed with {end}{colon}{words}", self.command)
    }
}

impl Issuer for Plugin {
    async fn issue(&mut self, why: RefreshRequest<'_>) -> Result<Option<IssuedCredential>, Error> {
        let issued = self.run(why).await;
        issued.map(Some).map_err(|why| Error::Credentials(format!("getting credentials: {why}")))
    }

    fn name(&self) -> String {
        self.command.clone()
    }

    fn report_after(&self) -> Duration {
        if self.is_interactive() == Ok(true) { REPORT_AFTER_AT_TERMINAL } else { REPORT_AFTER }
    }
}

/// A plugin's use of the terminal until this is dropped, also when the run is dropped.
struct TerminalUse<'a>(RefreshRequest<'a>);

impl<'a> TerminalUse<'a> {
    fn begin(why: RefreshRequest<'a>) -> Self {
        why.tell(Notice::TerminalTaken);
        Self(why)
    }
}

impl Drop for TerminalUse<'_> {
    fn drop(&mut self) {
        self.0.tell(Notice::TerminalReleased);
    }
}

/// Returns a text of a file for a terminal, without control characters and the escape sequences that they start.
fn plain(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut chars = text.trim().chars().peekable();
    while let Some(c) = chars.next() {
        if c == '\u{1b}' && chars.next_if_eq(&'[').is_some() {
            while chars.next().is_some_and(|inner| !inner.is_ascii_alphabetic()) {}
        } else if !c.is_control() || matches!(c, '\n' | '\t') {
            out.push(c);
        }
    }
    out
}
