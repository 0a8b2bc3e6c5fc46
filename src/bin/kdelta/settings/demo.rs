//! The cluster in the program: whether it is asked for, and how it is to be.

use super::UsageError;
use super::environment::Environment;
use crate::args::{Cli, Command};

/// A demo, as it was asked for.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Demo {
    /// 0 is any that is free.
    pub(crate) port: u16,
    /// Pods beyond the usual ones.
    pub(crate) objects: u32,
    /// Above 0, and at most 1000.
    pub(crate) speed: f64,
    /// Nothing where it need not be repeatable.
    pub(crate) seed: Option<u64>,
}

impl Demo {
    /// The demo that the flags ask for; nothing where they do not.
    pub(super) fn read(cli: &Cli, environment: &Environment) -> Result<Option<Self>, UsageError> {
        let args = &cli.demo;
        let port = match &cli.command {
            Command::Demo(own) => own.port,
            _ if args.demo => 0,
            _ => {
                let flags = [(args.objects.is_some(), "objects"), (args.speed.is_some(), "speed")];
                let stray = flags.into_iter().find(|(given, _)| *given);
                return stray.map_or(Ok(None), |(_, flag)| Err(UsageError::NeedsDemo(flag)));
            }
        };
        let connection = &cli.connection;
        let elsewhere = [
            (connection.server.is_some(), "server"),
            (connection.kubeconfig.is_some(), "kubeconfig"),
            (connection.context.is_some(), "context"),
            (connection.all_contexts, "all-contexts"),
            (connection.cluster.is_some(), "cluster"),
        ];
        if let Some((_, flag)) = elsewhere.into_iter().find(|(given, _)| *given) {
            return Err(UsageError::DemoElsewhere(flag));
        }
        let speed = args.speed.unwrap_or(1.0);
        if !(speed > 0.0 && speed <= 1000.0) {
            return Err(UsageError::DemoSpeed);
        }
        let number = |text: &str| text.parse().map_err(|_| UsageError::DemoSeed(text.to_owned()));
        Ok(Some(Self {
            port,
            objects: args.objects.unwrap_or(0),
            speed,
            seed: environment.demo_seed.as_deref().map(number).transpose()?,
        }))
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    fn read(line: &str, seed: Option<&str>) -> Result<Option<Demo>, UsageError> {
        let cli = Cli::try_parse_from(line.split_whitespace()).expect(line);
        let environment = Environment { demo_seed: seed.map(str::to_owned), ..Environment::default() };
        Demo::read(&cli, &environment)
    }

    #[test]
    fn a_demo_is_asked_for_by_the_flag_or_by_the_command() {
        assert_eq!(read("kdelta get po", None), Ok(None));
        let demo = Demo { port: 0, objects: 0, speed: 1.0, seed: None };
        assert_eq!(read("kdelta get po --demo", None), Ok(Some(demo)));
        assert_eq!(
            read("kdelta demo --port 81 --objects 7 --speed 0.5", Some("9")),
            Ok(Some(Demo { port: 81, objects: 7, speed: 0.5, seed: Some(9) }))
        );
    }

    #[test]
    fn what_can_not_be_meant_is_a_mistake() {
        assert_eq!(read("kdelta get po --objects 3", None), Err(UsageError::NeedsDemo("objects")));
        assert_eq!(read("kdelta get po --demo --context c", None), Err(UsageError::DemoElsewhere("context")));
        for speed in ["0", "-1", "1001", "nan", "inf"] {
            assert_eq!(
                read(&format!("kdelta demo --speed={speed}"), None),
                Err(UsageError::DemoSpeed),
                "{speed}"
            );
        }
        assert_eq!(read("kdelta demo", Some("x")), Err(UsageError::DemoSeed("x".into())));
    }
}
