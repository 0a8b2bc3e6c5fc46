//! A credential plugin of a kubeconfig (`exec`), run as client-go runs it.

mod child;
mod exec_credential;
mod lookup;
mod process_tree;

pub use self::process_tree::{a_plugin_runs, end_plugins, kill_plugins};

use std::io;
use std::time::Duration;

use tokio::process::Command;
use tokio::sync::Mutex;

use self::child::{Ended, Failure};
use self::lookup::NotFound;
use self::process_tree::Place;
use super::cut;
use super::refresh::{Issued, Issuer, Occasion, PATIENCE};
use super::shared::Registry;
use crate::client::notice::Notice;
use crate::kubeconfig::Error;
use crate::kubeconfig::file_format::{ExecConfig, ExecVariable, InteractiveMode};
use crate::kubeconfig::{Config, ExecCluster};
use crate::listwatch::system_words;

const NOT_INSTALLED: &str = "\n\nIt looks like you are trying to use a client-go credential plugin that is not \
     installed.\n\nTo learn more about this feature, consult the documentation available at:\n      \
     https://kubernetes.io/docs/reference/access-authn-authz/authentication/#client-go-credential-plugins";

/// How long one that has the terminal is waited for before that is said: the line would stand in the middle of what its
/// user is asked.
const PATIENCE_WITH_A_USER: Duration = Duration::from_mins(1);

/// The plugins of this process: contexts that run the same one have one log-in.
pub(super) static PLUGINS: Registry<Plugin> = Registry::new();

/// Held by the plugin that has the terminal: two of them would take each other's answers. An async mutex, as its user
/// may be asked for minutes.
static TERMINAL: Mutex<()> = Mutex::const_new(());

/// How the plugin is run, settled.
pub(super) struct Plugin {
    version: String,
    command: String,
    arguments: Vec<String>,
    environment: Vec<(String, String)>,
    install_hint: String,
    mode: InteractiveMode,
    stdin_is_terminal: bool,
    cluster: Option<ExecCluster>,
}

impl Plugin {
    /// The plugin of a configuration, which has checked that nothing is missing.
    pub(super) fn of(exec: &ExecConfig, config: &Config) -> Self {
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
        }
    }

    /// All that decides what it does. It may hold credentials.
    pub(super) fn made_of(&self) -> String {
        let Self { version, command, arguments, environment, install_hint, mode, stdin_is_terminal, cluster } =
            self;
        let info = exec_credential::info(version, cluster.as_ref(), *stdin_is_terminal);
        format!("{command:?} {arguments:?} {environment:?} {install_hint:?} {mode:?} {info}")
    }

    /// Whether it may ask its user.
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

    async fn run(&self, why: Occasion<'_>) -> Result<Issued, String> {
        let interactive = self.is_interactive()?;
        let mut command = self.program().map_err(|missing| self.not_found(&missing))?;
        // Over our own environment, which a child inherits.
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
            let _asking = Asking::begin(why);
            child::run(command, Place::Terminal, &mut tell).await
        } else {
            child::run(command, Place::of_the_silent(), &mut tell).await
        };
        let ended = ended.map_err(|failure| self.not_run(&failure))?;
        if !ended.status.success() {
            return Err(self.failed(&ended, &words));
        }
        exec_credential::read(&ended.stdout, &self.version)
    }

    /// The program that the command names. It still sees itself called by that name.
    fn program(&self) -> Result<Command, NotFound> {
        let mut command = Command::new(lookup::find(&self.command)?);
        #[cfg(unix)]
        command.arg0(&self.command);
        Ok(command)
    }

    /// kubectl's words. They do not say that the program is there, in a folder that is not searched: that comes after.
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

    /// Of its command line only the program is shown: arguments and environment may hold a credential.
    fn not_run(&self, failure: &Failure) -> String {
        let command = &self.command;
        match failure {
            Failure::Start(error) if error.kind() == io::ErrorKind::NotFound => {
                self.not_found(&NotFound::Nowhere)
            }
            Failure::Start(error) => format!("exec: fork/exec {command}: {}", system_words(error)),
            Failure::Io(error) => format!("exec: executable {command}: {}", system_words(error)),
            Failure::TooLong => format!("exec: executable {command} wrote too much to its stdout"),
        }
    }

    /// Its own words have been told already where somebody listens.
    fn failed(&self, ended: &Ended, words: &str) -> String {
        let code = ended.status.code();
        let end = code.map_or_else(|| "a signal".to_owned(), |code| format!("exit code {code}"));
        let words = cut(words);
        let colon = if words.is_empty() { "" } else { ": " };
        format!("exec: executable {} failed with {end}{colon}{words}", self.command)
    }
}

impl Issuer for Plugin {
    async fn issue(&mut self, why: Occasion<'_>) -> Result<Option<Issued>, Error> {
        let issued = self.run(why).await;
        issued.map(Some).map_err(|why| Error::Credentials(format!("getting credentials: {why}")))
    }

    fn name(&self) -> String {
        self.command.clone()
    }

    fn patience(&self) -> Duration {
        if self.is_interactive() == Ok(true) { PATIENCE_WITH_A_USER } else { PATIENCE }
    }
}

/// A plugin has the terminal until this is dropped, also when the run is given up.
struct Asking<'a>(Occasion<'a>);

impl<'a> Asking<'a> {
    fn begin(why: Occasion<'a>) -> Self {
        why.tell(Notice::PluginAsks);
        Self(why)
    }
}

impl Drop for Asking<'_> {
    fn drop(&mut self) {
        self.0.tell(Notice::PluginAsked);
    }
}

/// A text of a file that goes to a terminal, without its control characters and the escape sequences that they begin.
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
