//! The settings of `kdelta serve`.

mod mirror;

use std::net::SocketAddr;
use std::path::PathBuf;

use jiff::Zoned;
use kdelta::recording::ReplaySpeed;

use super::UsageError;
use super::recording::{RequestedMoment, replay_speed};
use super::usage::first_flag;
use crate::args::{Cli, Command, ServeArgs, SpeedArg};

pub(crate) use mirror::Mirror;

/// `kdelta serve`, with a recording or a mirror.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Serve {
    pub(crate) address: SocketAddr,
    /// The beginning of the replay and its speed; `None` if the moment stands still.
    pub(crate) replay: Option<(RequestedMoment, ReplaySpeed)>,
    /// The file of the kubeconfig; `None` for one in the cache directory.
    pub(crate) kubeconfig: Option<PathBuf>,
}

impl Serve {
    /// Returns the settings of a server, if one is requested. `now` is the local time.
    pub(super) fn read(cli: &Cli, now: fn() -> Zoned) -> Result<Option<Self>, UsageError> {
        let Command::Serve(args) = &cli.command else { return Ok(None) };
        if args.move_to.is_some() {
            return Ok(None);
        }
        match (args.follow, cli.recording.from.is_some()) {
            (true, true) => return Err(UsageError::FollowAndRecording("from")),
            (true, false) if args.since.is_some() => return Err(UsageError::FollowAndRecording("since")),
            (false, false) => return Err(UsageError::ServeWithoutRecording),
            (true, false) | (false, true) => {}
        }
        mirror::check_unused(args)?;
        if args.since.is_some() && cli.recording.at.is_some() {
            return Err(UsageError::MomentAndReplay);
        }
        if args.address.is_unspecified() || args.address.is_multicast() {
            return Err(UsageError::ServeAddress(args.address));
        }
        Ok(Some(Self {
            address: SocketAddr::new(args.address, args.port),
            replay: replay(args, cli.demo.speed, now)?,
            kubeconfig: args.write_kubeconfig.clone(),
        }))
    }
}

fn replay(
    args: &ServeArgs,
    speed: Option<SpeedArg>,
    now: fn() -> Zoned,
) -> Result<Option<(RequestedMoment, ReplaySpeed)>, UsageError> {
    let Some(since) = &args.since else {
        // The demo, which can be mirrored, has a speed too.
        return if speed.is_some() && !args.follow { Err(UsageError::ServedSpeed) } else { Ok(None) };
    };
    let speed = replay_speed(speed.unwrap_or(SpeedArg::Times(1.0)))?;
    let speed = speed.map_or(ReplaySpeed::Max, ReplaySpeed::Times);
    Ok(Some((RequestedMoment::parse("since", since, now)?, speed)))
}

/// Returns the moment to which a running server is to be moved, if requested.
pub(super) fn moved(args: &ServeArgs) -> Result<Option<RequestedMoment>, UsageError> {
    let Some(text) = &args.move_to else { return Ok(None) };
    let conflicts = [
        (args.follow, "follow"),
        (args.since.is_some(), "since"),
        (args.write_kubeconfig.is_some(), "write-kubeconfig"),
        (args.port != 0, "port"),
    ];
    if let Some(flag) = first_flag(conflicts) {
        return Err(UsageError::MoveAndServe(flag));
    }
    mirror::check_unused(args)?;
    // Only here: other flags begin at the end without a moment.
    if text == "end" {
        return Ok(Some(RequestedMoment::End));
    }
    RequestedMoment::parse("move-to", text, Zoned::now).map(Some)
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    fn read(line: &str) -> Result<Option<Serve>, UsageError> {
        let cli = Cli::try_parse_from(format!("kdelta {line}").split_whitespace()).expect(line);
        let Command::Serve(args) = &cli.command else { panic!("{line}") };
        moved(args)?;
        Serve::read(&cli, Zoned::now)
    }

    #[test]
    fn moment_stands_still_or_is_replayed() {
        let address = |text: &str| text.parse().expect("an address");
        let still = Serve { address: address("127.0.0.1:0"), replay: None, kubeconfig: None };
        assert_eq!(read("serve --from d"), Ok(Some(still.clone())));
        assert_eq!(read("serve --follow po -A --demo --speed 2"), Ok(Some(still.clone())));
        assert_eq!(read("serve --from d --at rv:3"), Ok(Some(still.clone())));
        for (speed, expected) in [
            ("", ReplaySpeed::Times(1.0)),
            ("--speed 60", ReplaySpeed::Times(60.0)),
            ("--speed 10x", ReplaySpeed::Times(10.0)),
            ("--speed max", ReplaySpeed::Max),
        ] {
            let replay = Some((RequestedMoment::Version(3), expected));
            let line = format!("serve --from d --since rv:3 {speed}");
            assert_eq!(read(&line), Ok(Some(Serve { replay, ..still.clone() })), "{line}");
        }
        let other = Serve { address: address("192.0.2.1:81"), kubeconfig: Some("f".into()), ..still };
        let line = "serve --from d --address 192.0.2.1 --port 81 --write-kubeconfig f";
        assert_eq!(read(line), Ok(Some(other)));
        assert_eq!(read("serve --move-to -5m"), Ok(None));
    }

    #[test]
    fn running_server_can_be_moved_to_the_end() {
        let cli = Cli::try_parse_from(["kdelta", "serve", "--move-to", "end"]).expect("a command");
        let Command::Serve(args) = &cli.command else { panic!("another command") };
        assert_eq!(moved(args), Ok(Some(RequestedMoment::End)));
    }

    #[test]
    fn contradictions_are_usage_errors() {
        for (line, error) in [
            ("serve", UsageError::ServeWithoutRecording),
            ("serve --from d --at rv:1 --since rv:1", UsageError::MomentAndReplay),
            ("serve --from d --speed 2", UsageError::ServedSpeed),
            ("serve --from d --since rv:1 --speed 0", UsageError::ReplaySpeed),
            ("serve --from d --since rv:1 --speed inf", UsageError::ReplaySpeed),
            ("serve --from d --address 0.0.0.0", UsageError::ServeAddress([0, 0, 0, 0].into())),
            ("serve --follow po --from d", UsageError::FollowAndRecording("from")),
            ("serve --follow po --since rv:1", UsageError::FollowAndRecording("since")),
            ("serve po --from d", UsageError::NeedsFollow("RESOURCE")),
            ("serve --all-kinds --from d", UsageError::NeedsFollow("--all-kinds")),
            ("serve --secrets keep --from d", UsageError::NeedsFollow("--secrets")),
            ("serve --move-to rv:1 --since rv:1", UsageError::MoveAndServe("since")),
            ("serve --move-to rv:1 --follow", UsageError::MoveAndServe("follow")),
            ("serve po --move-to rv:1", UsageError::NeedsFollow("RESOURCE")),
            ("serve --move-to rv:1 --port 3", UsageError::MoveAndServe("port")),
            ("serve --move-to x", UsageError::Moment { flag: "move-to", text: "x".into() }),
        ] {
            assert_eq!(read(line), Err(error), "{line}");
        }
    }
}
