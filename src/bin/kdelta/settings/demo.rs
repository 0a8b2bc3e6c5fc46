//! The settings of the embedded demo cluster.

use super::UsageError;
use super::environment::Environment;
use crate::args::{Cli, Command, SpeedArg};

/// The options of a demo.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Demo {
    /// The port of `kdelta demo`; 0 selects a free one. `None` inside the process.
    pub(crate) port: Option<u16>,
    /// Additional Pods.
    pub(crate) objects: u32,
    /// The speed, above 0 and at most 1000.
    pub(crate) speed: f64,
    /// The seed; `None` selects a random one.
    pub(crate) seed: Option<u64>,
}

impl Demo {
    /// Returns the demo of the flags, if requested.
    pub(super) fn read(cli: &Cli, environment: &Environment) -> Result<Option<Self>, UsageError> {
        let args = &cli.demo;
        let port = match &cli.command {
            Command::Demo(own) => Some(own.port),
            _ if args.demo => None,
            _ => {
                // A recording is replayed at a speed too.
                let is_stray = args.speed.is_some() && cli.recording.from.is_none();
                let flags = [(args.objects.is_some(), "objects"), (is_stray, "speed")];
                let stray = flags.into_iter().find(|(given, _)| *given);
                return match stray {
                    None => Ok(None),
                    // Only these commands have a speed without a demo.
                    Some((_, "speed")) if matches!(cli.command, Command::Watch(_) | Command::Serve(_)) => {
                        Err(UsageError::SpeedWithoutReplay)
                    }
                    Some((_, flag)) => Err(UsageError::NeedsDemo(flag)),
                };
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
        let speed = match args.speed {
            None => 1.0,
            Some(SpeedArg::Times(speed)) if speed > 0.0 && speed <= 1000.0 => speed,
            Some(_) => return Err(UsageError::DemoSpeed),
        };
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
    fn demo_is_requested_by_flag_or_command() {
        assert_eq!(read("kdelta get po", None), Ok(None));
        let demo = Demo { port: None, objects: 0, speed: 1.0, seed: None };
        assert_eq!(read("kdelta get po --demo", None), Ok(Some(demo)));
        assert_eq!(
            read("kdelta demo --port 81 --objects 7 --speed 0.5", Some("9")),
            Ok(Some(Demo { port: Some(81), objects: 7, speed: 0.5, seed: Some(9) }))
        );
    }

    #[test]
    fn invalid_combinations_are_usage_errors() {
        assert_eq!(read("kdelta get po --objects 3", None), Err(UsageError::NeedsDemo("objects")));
        assert_eq!(read("kdelta get po --speed 2", None), Err(UsageError::NeedsDemo("speed")));
        assert_eq!(read("kdelta watch po --speed 2", None), Err(UsageError::SpeedWithoutReplay));
        assert_eq!(read("kdelta watch po --speed 2 --from d", None), Ok(None));
        assert_eq!(read("kdelta get po --demo --context c", None), Err(UsageError::DemoElsewhere("context")));
        for speed in ["0", "-1", "1001", "nan", "inf", "max"] {
            assert_eq!(
                read(&format!("kdelta demo --speed={speed}"), None),
                Err(UsageError::DemoSpeed),
                "{speed}"
            );
        }
        assert_eq!(read("kdelta demo", Some("x")), Err(UsageError::DemoSeed("x".into())));
    }
}
