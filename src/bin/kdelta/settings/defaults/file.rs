//! The configuration file: TOML whose keys are flags and whose tables are commands.

use std::fs;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use clap::{Arg, Command};
use toml::Spanned;
use toml::de::{DeString, DeTable, DeValue};

use super::default_value::{DefaultValue, Scope};
use super::error::{DefaultsError, Origin};
use super::key::{ValueKind, command_paths, flags_of, owners};
use super::policy::{Policy, policy};
use super::value;
use crate::settings::environment::ConfigFile;
use crate::suggest::nearest;
use crate::system_words::system_words;

type TomlKey<'a> = Spanned<DeString<'a>>;

/// The maximum size of the file.
const LIMIT: u64 = 1 << 20;

/// Reads the defaults of the file. `app` returns the definition of all commands, built; it is called if there is a file.
///
/// # Errors
/// A named file is missing, the file can't be read, or it has a mistake: the first one is reported.
pub(super) fn read<'a>(
    file: &ConfigFile,
    app: impl FnOnce() -> &'a Command,
) -> Result<Vec<DefaultValue>, DefaultsError> {
    let path = match file {
        ConfigFile::Off => return Ok(Vec::new()),
        // Without a home directory there may be no such place either.
        ConfigFile::Usual(path) if fs::metadata(path).is_err() => return Ok(Vec::new()),
        ConfigFile::Named(path) | ConfigFile::Usual(path) => path,
    };
    let unreadable = |error| DefaultsError::Unreadable { path: path.clone(), reason: system_words(&error) };
    parse(path, &read_text(path).map_err(unreadable)?, app())
}

/// Reads a regular file of limited size. The type is checked first, since opening a FIFO would wait for its writer.
fn read_text(path: &Path) -> io::Result<String> {
    if !fs::metadata(path)?.is_file() {
        return Err(io::Error::other("it is no regular file"));
    }
    let mut text = String::new();
    fs::File::open(path)?.take(LIMIT + 1).read_to_string(&mut text)?;
    if text.len() as u64 > LIMIT {
        return Err(io::Error::other(format!("it is larger than {} MiB", LIMIT >> 20)));
    }
    Ok(text)
}

fn parse(path: &Path, text: &str, app: &Command) -> Result<Vec<DefaultValue>, DefaultsError> {
    let reader = FileReader { path: path.to_owned(), text, paths: command_paths(app) };
    let table = DeTable::parse(text).map_err(|error| DefaultsError::Syntax {
        origin: reader.origin(error.span().map_or(0, |span| span.start)),
        message: error.message().to_owned(),
    })?;
    let mut found = Vec::new();
    reader.table("", table.get_ref(), &mut found)?;
    Ok(found)
}

/// The file being read, and the commands.
struct FileReader<'a> {
    path: PathBuf,
    text: &'a str,
    paths: Vec<(String, &'a Command)>,
}

impl FileReader<'_> {
    /// Returns the line of a position.
    fn origin(&self, at: usize) -> Origin {
        let before = self.text.as_bytes().iter().take(at);
        let line = before.filter(|byte| **byte == b'\n').count() + 1;
        Origin::File { path: self.path.clone(), line }
    }

    /// Adds the defaults of a table. `command` is empty at the top of the file.
    fn table(
        &self,
        command: &str,
        table: &DeTable<'_>,
        found: &mut Vec<DefaultValue>,
    ) -> Result<(), DefaultsError> {
        let mut entries: Vec<_> = table.iter().collect();
        entries.sort_by_key(|(key, _)| key.span().start);
        for (key, value) in entries {
            let name: &str = key.get_ref();
            let inner = format!("{command} {name}").trim_start().to_owned();
            let is_command = self.paths.iter().any(|(path, _)| {
                path.strip_prefix(&inner).is_some_and(|rest| rest.is_empty() || rest.starts_with(' '))
            });
            match value.get_ref() {
                DeValue::Table(table) if is_command => self.table(&inner, table, found)?,
                DeValue::Table(_) if self.is_flag(name) => return Err(self.wrong_type(key)),
                DeValue::Table(_) => return Err(self.unknown_table(key, &inner)),
                value if command.is_empty() => found.push(self.of_all(key, value)?),
                value => found.push(self.of_command(command, key, value)?),
            }
        }
        Ok(())
    }

    fn is_flag(&self, name: &str) -> bool {
        !owners(name, &self.paths).is_empty()
    }

    fn wrong_type(&self, key: &TomlKey<'_>) -> DefaultsError {
        let owners = owners(key.get_ref(), &self.paths);
        let expected = owners.first().map(|(_, arg)| ValueKind::of(arg).words()).unwrap_or_default();
        let origin = self.origin(key.span().start);
        DefaultsError::Type { origin, key: key.get_ref().to_string(), expected }
    }

    fn unknown_table(&self, key: &TomlKey<'_>, table: &str) -> DefaultsError {
        let choices = self.paths.iter().map(|(path, _)| (path.replace(' ', "."), vec![path.clone()]));
        DefaultsError::UnknownTable {
            origin: self.origin(key.span().start),
            table: table.replace(' ', "."),
            near: nearest(table, choices),
        }
    }

    /// Returns the default of all commands that have the flag.
    fn of_all(&self, key: &TomlKey<'_>, value: &DeValue<'_>) -> Result<DefaultValue, DefaultsError> {
        let origin = self.origin(key.span().start);
        let name: &str = key.get_ref();
        let owners = owners(name, &self.paths);
        if owners.is_empty() {
            let flags = self.paths.iter().flat_map(|(_, command)| flags_of(command));
            return Err(unknown_key(origin, name, flags));
        }
        match policy(name) {
            Some(Policy::Everywhere) => {}
            Some(Policy::Tables(reason)) => {
                let command = owners.first().map(|(path, _)| path.replace(' ', ".")).unwrap_or_default();
                return Err(DefaultsError::NeedsTable { origin, key: name.to_owned(), command, reason });
            }
            Some(Policy::Nowhere(reason)) => {
                return Err(DefaultsError::Refused { origin, key: name.to_owned(), reason });
            }
            None => return Err(DefaultsError::UnknownKey { origin, key: name.to_owned(), near: Vec::new() }),
        }
        let texts = owners.iter().find_map(|(_, arg)| value::of_toml(&ValueKind::of(arg), value));
        let texts = texts.ok_or_else(|| self.wrong_type(key))?;
        DefaultValue::of_all(name, texts, origin, &owners)
    }

    /// Returns the default of one command.
    fn of_command(
        &self,
        command: &str,
        key: &TomlKey<'_>,
        value: &DeValue<'_>,
    ) -> Result<DefaultValue, DefaultsError> {
        let origin = self.origin(key.span().start);
        let name: &str = key.get_ref();
        let flags = || {
            let own = self.paths.iter().filter(|(path, _)| path == command);
            own.flat_map(|(_, command)| flags_of(command))
        };
        let Some(arg) = flags().find(|arg| arg.get_long() == Some(name)) else {
            let owners: Vec<&str> = owners(name, &self.paths).into_iter().map(|(path, _)| path).collect();
            if owners.is_empty() {
                return Err(unknown_key(origin, name, flags()));
            }
            let (command, owners) = (command.to_owned(), owners.join(", "));
            return Err(DefaultsError::OtherCommand { origin, command, key: name.to_owned(), owners });
        };
        if let Some(Policy::Nowhere(reason)) = policy(name) {
            return Err(DefaultsError::Refused { origin, key: name.to_owned(), reason });
        }
        let kind = ValueKind::of(arg);
        let Some(texts) = value::of_toml(&kind, value) else {
            let (key, expected) = (name.to_owned(), kind.words());
            return Err(DefaultsError::Type { origin, key, expected });
        };
        if let Err(message) = value::check(arg, &texts) {
            return Err(DefaultsError::Value { origin, message });
        }
        let scope = Scope::Command(command.to_owned());
        Ok(DefaultValue { flag: name.to_owned(), texts, scope, origin })
    }
}

fn unknown_key<'a>(origin: Origin, key: &str, flags: impl Iterator<Item = &'a Arg>) -> DefaultsError {
    let mut names: Vec<&str> = flags.filter_map(Arg::get_long).collect();
    names.retain(|name| !matches!(policy(name), None | Some(Policy::Nowhere(_))));
    names.sort_unstable();
    names.dedup();
    let choices = names.into_iter().map(|name| (name.to_owned(), vec![name.to_owned()]));
    DefaultsError::UnknownKey { origin, key: key.to_owned(), near: nearest(key, choices) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings::defaults::key::built_app;

    fn parsed(text: &str) -> Result<Vec<String>, String> {
        let values = parse(Path::new("c.toml"), text, &built_app()).map_err(|error| error.to_string())?;
        let shown = |value: DefaultValue| {
            let scope = match value.scope {
                Scope::All => String::new(),
                Scope::Command(command) => format!("[{command}] "),
            };
            format!("{scope}{}={} {}", value.flag, value.texts.join("|"), value.origin)
        };
        Ok(values.into_iter().map(shown).collect())
    }

    #[test]
    fn keys_and_tables_become_defaults_with_their_lines() {
        let text = "# mine\noutput = 'wide'\nrequest-timeout = 30\n\n[watch]\nignore = [\n  'a', # x\n  'b.c']\nold = true\n[get]\nsort-by = '.metadata.name'\n";
        assert_eq!(
            parsed(text).expect("fine"),
            [
                "output=wide c.toml:2",
                "request-timeout=30 c.toml:3",
                "[watch] ignore=a|b.c c.toml:6",
                "[watch] old=true c.toml:9",
                "[get] sort-by=.metadata.name c.toml:11",
            ]
        );
        assert_eq!(parsed("get.output = 'json'").expect("fine"), ["[get] output=json c.toml:1"]);
        assert_eq!(parsed("").expect("fine"), [""; 0]);
    }

    #[test]
    fn mistakes_name_file_line_and_nearest_name() {
        for (text, expected) in [
            ("\nouput = 'wide'", "c.toml:2: unknown key \"ouput\"\n  tip: a similar key exists: 'output'"),
            (
                "no_headers = true",
                "c.toml:1: unknown key \"no_headers\"\n  tip: a similar key exists: 'no-headers'",
            ),
            ("frobnicate = 1", "c.toml:1: unknown key \"frobnicate\""),
            ("help = true", "c.toml:1: unknown key \"help\""),
            (
                "[wacth]\nold = true",
                "c.toml:1: unknown table \"wacth\": a table has the name of a command\n  tip: a similar table exists: 'watch'",
            ),
            ("[man]\ncolor = 'auto'", "c.toml:1: unknown table \"man\": a table has the name of a command"),
            ("[output]\nx = 1", "c.toml:1: output must be a string"),
            ("output = 5", "c.toml:1: output must be a string"),
            ("get = 'json'", "c.toml:1: unknown key \"get\""),
            ("[get]\nchunk-size = '5'", "c.toml:2: chunk-size must be a number"),
            ("only = 5", "c.toml:1: only must be a string or an array of strings"),
            ("[index]\nold = true", "c.toml:2: index has no flag --old, only: watch, get"),
            (
                "token = 's3cr3t'",
                "c.toml:1: token can't have a default: each context would send these credentials to its server: use a user of the kubeconfig",
            ),
            (
                "[get]\nwatch = true",
                "c.toml:2: watch can't have a default: it turns one command into another",
            ),
            (
                "port = 80",
                "c.toml:1: port must be in the table of a command, such as [serve]: in a pod, KDELTA_PORT is the address of a Service named kdelta",
            ),
            (
                "color = 'red'",
                "c.toml:1: invalid value 'red' for '--color <WHEN>'\n  [possible values: auto, always, never]",
            ),
            ("output = 'jsn'", "c.toml:1: no command has the output format \"jsn\""),
            ("a = [1\nb = 2", "c.toml:2: missing comma between array elements, expected `,`"),
            ("cached = true\ncached = true", "c.toml:2: duplicate key"),
        ] {
            assert_eq!(parsed(text), Err(expected.to_owned()), "{text}");
        }
    }

    #[test]
    fn only_small_regular_files_are_read() {
        let folder = tempfile::tempdir().expect("a folder");
        let app = built_app();
        let named = |path: &Path| read(&ConfigFile::Named(path.to_owned()), || &app);
        let missing = folder.path().join("missing.toml");
        for usual in [&missing, &"/dev/null/.config/kdelta/config.toml".into()] {
            let usual = ConfigFile::Usual(usual.clone());
            assert_eq!(read(&usual, || panic!("no file needs no definition")), Ok(Vec::new()));
        }
        assert!(matches!(named(&missing), Err(DefaultsError::Unreadable { .. })));
        assert!(matches!(named(folder.path()), Err(DefaultsError::Unreadable { .. })));
        let large = folder.path().join("large.toml");
        fs::write(&large, vec![b' '; (1 << 20) + 1]).expect("a file");
        let error = named(&large).expect_err("too large").to_string();
        assert!(error.ends_with("large.toml: it is larger than 1 MiB"), "{error}");
    }
}
