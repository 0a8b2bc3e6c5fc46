//! The errors of a configuration, in kubectl's words.

use kdelta::kubeconfig;

use crate::exit::{Hint, Verbatim};
use crate::session;
use crate::settings::{Settings, Task};

/// Returns the error of a configuration with kubectl's text for the command, and with similar names if it is about a
/// missing context, cluster or user.
pub(super) fn configuration_error(error: anyhow::Error, settings: &Settings) -> anyhow::Error {
    let Some(missing) = error.downcast_ref::<kubeconfig::Error>() else { return error };
    let near = session::similar_names(missing, &settings.connection);
    // kubectl's commands about objects check the configuration before they use it.
    let is_about_objects = matches!(
        settings.task,
        Task::Get(_)
            | Task::Watch(_)
            | Task::Index(_)
            | Task::Tree(_)
            | Task::History(_)
            | Task::Changes(_)
            | Task::Run(_)
            | Task::Record(_)
            | Task::Mirror(_)
            | Task::Wait(_)
            | Task::SetWait(_)
            | Task::Rollout(_)
            | Task::Events(_)
    );
    let error = match missing {
        kubeconfig::Error::NoContext(name) if is_about_objects => no_such_context(name),
        kubeconfig::Error::NoCurrentContext(name) => no_such_context(name),
        kubeconfig::Error::NoCluster(name) if is_about_objects => {
            kubeconfig::Error::Contradictory(vec![format!("no server found for cluster {name:?}")]).into()
        }
        _ => error,
    };
    match near.as_slice() {
        [] => error,
        near => error.context(Hint(format!("did you mean {}?", near.join(" or ")))),
    }
}

fn no_such_context(name: &str) -> anyhow::Error {
    let text = "Error in configuration: context was not found for specified context";
    Verbatim(format!("{text}: {name}")).into()
}
