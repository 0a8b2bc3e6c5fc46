//! From the arguments of a command to its task.

use jiff::Zoned;

use super::Task;
use crate::args::{
    Command, FileArgs, GetArgs, RecordArgs, RunArgs, SelectArgs, ServeArgs, WaitArgs, WatchArgs,
};
use crate::settings::UsageError;
use crate::settings::environment::Environment;
use crate::settings::get::Get;
use crate::settings::index::Index;
use crate::settings::kubectl::{
    Events, Explain, Files, RawPath, Version, WatchForm, no_arguments, read_api_resources,
};
use crate::settings::print::Print;
use crate::settings::record::Record;
use crate::settings::recording::{Changes, History, Range, Replay};
use crate::settings::recording_tool::RecordingTool;
use crate::settings::run::Run;
use crate::settings::selection::{Selection, TargetForm};
use crate::settings::serve::{self, Mirror};
use crate::settings::set_wait::SetWait;
use crate::settings::tree::Tree;
use crate::settings::wait::{Rollout, Wait};
use crate::settings::watch::Watch;

impl Task {
    /// Reads the arguments of a command. `namespace` is the value of `-n`.
    pub(in crate::settings) fn read(
        command: &Command,
        namespace: Option<&str>,
        environment: &Environment,
    ) -> Result<Self, UsageError> {
        let reader = TaskReader { namespace, environment };
        match command {
            Command::Watch(args) => reader.watch(args),
            Command::Get(args) => reader.get(args),
            Command::Index(args) => {
                Index::read(args, reader.selection(&args.select, TargetForm::Own)?).map(Self::Index)
            }
            Command::Tree(args) => {
                Tree::read(args, reader.selection(&args.select, TargetForm::Own)?).map(Self::Tree)
            }
            Command::Wait(args) => reader.wait(args),
            Command::Rollout(args) => {
                Rollout::read(args, namespace, environment).map(Box::new).map(Self::Rollout)
            }
            Command::Run(args) => reader.run(args),
            Command::Record(args) => reader.record(args),
            Command::Recording(args) => {
                RecordingTool::read(args, namespace, environment, Zoned::now).map(Self::RecordingTool)
            }
            Command::History(args) => {
                History::read(args, namespace, environment).map(Box::new).map(Self::History)
            }
            Command::Changes(args) => {
                Changes::read(args, namespace, environment).map(Box::new).map(Self::Changes)
            }
            Command::Events(args) => Events::read(args, namespace, environment).map(Self::Events),
            Command::ApiResources(args) => read_api_resources(args).map(Self::ApiResources),
            Command::ApiVersions(args) => no_arguments(&args.unexpected).map(|()| Self::ApiVersions),
            Command::Version(args) => Version::read(args).map(Self::Version),
            Command::Explain(args) => Ok(Self::Explain(Explain::read(args))),
            Command::Serve(args) => reader.serve(args),
            Command::Demo(_) => Ok(Self::Demo),
            Command::Completions(args) => Ok(Self::Completions(args.shell)),
            Command::Man(args) => Ok(Self::Man(args.command.clone())),
            Command::Options(_) => Ok(Self::Options),
        }
    }
}

/// The inputs of a task besides the arguments of its command.
#[derive(Clone, Copy)]
struct TaskReader<'a> {
    /// The value of `-n`.
    namespace: Option<&'a str>,
    environment: &'a Environment,
}

impl TaskReader<'_> {
    /// Reads `kdelta watch`.
    fn watch(self, args: &WatchArgs) -> Result<Task, UsageError> {
        let (select, files) = (&args.objects.select, &args.objects.files);
        let (selection, files) = self.objects(select, files, TargetForm::OwnWatch)?;
        let range = Range::read(&args.range, Zoned::now)?;
        let watch = Watch::read(&args.objects, Some(&args.rows), selection, files, WatchForm::Deltas)?;
        Ok(Task::Watch(Watch { replay: Replay::of(range).map(Box::new), ..watch }))
    }

    /// Reads `kdelta get`, which with `-w` is a watch.
    fn get(self, args: &GetArgs) -> Result<Task, UsageError> {
        if let Some(path) = args.raw.as_deref().filter(|path| !path.is_empty()) {
            return RawPath::read(path, args).map(Task::Raw);
        }
        let objects = &args.objects;
        if !objects.select.resources.is_empty() {
            Print::check_show_labels(&objects.print)?;
        }
        let is_watch = args.watch || objects.flow.watch_only;
        let form = if is_watch { TargetForm::GetWatch } else { TargetForm::Get };
        let (selection, files) = self.objects(&objects.select, &objects.files, form)?;
        if is_watch {
            Watch::of_get(args, selection, files).map(Task::Watch)
        } else {
            Get::read(args, selection, files).map(Task::Get)
        }
    }

    /// Reads `kdelta wait`, which waits for a set of objects if its flags request that.
    fn wait(self, args: &WaitArgs) -> Result<Task, UsageError> {
        let Self { namespace, environment } = self;
        if SetWait::is_requested(args, namespace) {
            SetWait::read(args, namespace, environment).map(Box::new).map(Task::SetWait)
        } else {
            Wait::read(args, namespace, environment).map(Box::new).map(Task::Wait)
        }
    }

    /// Reads `kdelta run`.
    fn run(self, args: &RunArgs) -> Result<Task, UsageError> {
        let (selection, files) = self.objects(&args.select, &args.files, TargetForm::OwnWatch)?;
        Run::read(args, selection, files, self.namespace, self.environment).map(Box::new).map(Task::Run)
    }

    /// Reads `kdelta record`.
    fn record(self, args: &RecordArgs) -> Result<Task, UsageError> {
        let selection = self.selection(&args.objects.select, TargetForm::OwnWatch)?;
        Record::read(args, selection, self.environment).map(Box::new).map(Task::Record)
    }

    /// Reads `kdelta serve`, which serves a live mirror with `--follow`, and controls a running server with `--move-to`.
    fn serve(self, args: &ServeArgs) -> Result<Task, UsageError> {
        if args.follow && args.move_to.is_none() {
            let selection = self.selection(&args.objects.select, TargetForm::OwnWatch)?;
            return Mirror::read(&args.objects, selection, self.environment).map(Box::new).map(Task::Mirror);
        }
        Ok(serve::moved(args)?.map_or(Task::Serve, Task::MoveServed))
    }

    fn selection(self, args: &SelectArgs, form: TargetForm) -> Result<Selection, UsageError> {
        Selection::read(args, form, self.namespace, self.environment)
    }

    /// Reads the words and flags that select objects, or the files that name them.
    fn objects(
        self,
        select: &SelectArgs,
        files: &FileArgs,
        form: TargetForm,
    ) -> Result<(Selection, Option<Files>), UsageError> {
        let files = Files::read(files, &select.resources, self.environment)?;
        let selection = match &files {
            Some(_) => Selection::of_files(select, form, self.namespace, self.environment)?,
            None => self.selection(select, form)?,
        };
        Ok((selection, files))
    }
}
