//! `wait` as kubectl does it: the objects are visited one after the other, and the command waits for each before it visits
//! the next. The watches survive broken connections and expired versions.

mod created;
mod error;
mod local;
mod object_wait;

use std::io::Write;

use kdelta::query::KubectlCondition;
use kdelta::wire::Representation;

use self::error::WaitError;
use self::object_wait::{ObjectWait, Timing};
use crate::commands::format;
use crate::commands::reporter::Reporter;
use crate::commands::visit::{self, ObjectRequests};
use crate::exit::ExitCode;
use crate::session::Session;
use crate::settings::{Format, OutputStream, Wait};

/// Waits for the objects.
pub(super) async fn run<W: Write>(
    session: &Session,
    wait: &Wait,
    reporter: &Reporter,
    stdout: OutputStream,
    out: W,
) -> anyhow::Result<ExitCode> {
    let timing = Timing::start(wait.timeout);
    let entries = visit::entries(&wait.objects, reporter).await?;
    let output = format::of_met_objects(wait.print.format, stdout);
    if wait.local {
        return local::print(&entries, output, out);
    }
    let requests = ObjectRequests {
        session,
        reporter,
        selection: &wait.objects.selection,
        print: &wait.print,
        representation: representation(wait),
        allows_missing: false,
    };
    let has = |condition: &KubectlCondition| wait.conditions.contains(condition);
    if has(&KubectlCondition::Create) {
        let end = created::wait_for_any(&requests, &wait.objects, &entries, timing).await?;
        if end != ExitCode::Ok {
            return Ok(end);
        }
    }
    let is_for_delete = has(&KubectlCondition::Delete);
    let requests = ObjectRequests { allows_missing: is_for_delete, ..requests };
    let mut object_wait = ObjectWait::new(requests, &wait.conditions, timing, output, out);
    let visited =
        visit::visit(&requests, &wait.objects, &entries, async |object| object_wait.object(object).await);
    let visited = visited.await?;
    object_wait.end()?;
    let count = visited.count();
    match visited.end()? {
        ExitCode::Ok if count == 0 && !is_for_delete => Err(WaitError::NoObjects.into()),
        end => Ok(end),
    }
}

/// Returns the representation with everything that the conditions and the output read.
fn representation(wait: &Wait) -> Representation {
    let is_named = matches!(wait.print.format, Format::Table { .. } | Format::Name);
    let reads_metadata = |condition: &KubectlCondition| {
        matches!(condition, KubectlCondition::Create | KubectlCondition::Delete)
    };
    if is_named && wait.conditions.iter().all(reads_metadata) {
        Representation::Metadata
    } else {
        Representation::Objects
    }
}
