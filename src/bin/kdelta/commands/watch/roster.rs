//! Which parts run: those that the survey comes to. They join and leave while the stream goes on.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use anyhow::Context;
use kdelta::listwatch::Error;
use kdelta::reflector::{GiveUp, ReflectorOptions};

use super::left_out::LeftOut;
use super::stream::Stream;
use crate::commands::needs;
use crate::commands::watched::Watched;
use crate::exit::Usage;
use crate::session::{Filter, Part, PlannedPart, Session, TargetSet, reflector_options};
use crate::settings::Watch;

/// The parts of a stream, by their numbers. A number is never used again.
pub(super) struct Roster<'a> {
    session: &'a Session,
    watch: &'a Watch,
    watched: Watched,
    pub(super) survey: TargetSet,
    pub(super) stream: Stream,
    pub(super) members: BTreeMap<usize, Member>,
    /// The numbers of those that the survey comes to.
    numbers: HashMap<Part, usize>,
    /// Those that leave and have not yet left: the same part joins again after that.
    leaving: HashMap<usize, Part>,
    /// Those that had failed and are no longer asked for, or are asked for again, until the printer knows.
    pub(super) dismissed: Vec<usize>,
    /// Those that nobody named and that are not allowed, or that are out of reach, which has been told. They are tried
    /// again now and then.
    left_out: LeftOut,
    next: usize,
}

/// Where a part stands.
pub(super) struct Member {
    pub(super) planned: PlannedPart,
    pub(super) stage: Stage,
    /// Whether an object has been seen: a part that is one name must have it.
    pub(super) found: bool,
    /// Whether it was left out, and is tried again without a word.
    pub(super) again: bool,
}

/// How far a part is.
pub(super) enum Stage {
    Begun,
    Synced,
    /// It has ended with an error, which has been printed.
    Failed,
    /// The same for now, with an error that is printed only if it is the end.
    LeftOut(Error),
}

impl<'a> Roster<'a> {
    pub(super) fn new(session: &'a Session, watch: &'a Watch, watched: Watched, survey: TargetSet) -> Self {
        Self {
            session,
            watch,
            watched,
            survey,
            stream: Stream::new(&watch.flow),
            members: BTreeMap::new(),
            numbers: HashMap::new(),
            leaving: HashMap::new(),
            dismissed: Vec::new(),
            left_out: LeftOut::default(),
            next: 0,
        }
    }

    /// Has those leave that the survey no longer comes to, and those join that it now comes to; answers the latter,
    /// which do not run before [`Roster::start`].
    pub(super) fn call(&mut self) -> Vec<(usize, Part)> {
        let planned = self.survey.parts();
        let wanted: HashSet<&Part> = planned.iter().map(|planned| &planned.part).collect();
        let gone: Vec<Part> = self.numbers.keys().filter(|part| !wanted.contains(part)).cloned().collect();
        for part in gone {
            self.dismiss(part);
        }
        let leaving: HashSet<Part> = self.leaving.values().cloned().collect();
        let mut joined = Vec::new();
        for planned in planned {
            if self.numbers.contains_key(&planned.part) || leaving.contains(&planned.part) {
                continue;
            }
            let number = self.next;
            self.next += 1;
            self.numbers.insert(planned.part.clone(), number);
            joined.push((number, planned.part.clone()));
            let again = self.left_out.contains(&planned.part);
            let member = Member { planned, stage: Stage::Begun, found: false, again };
            self.members.insert(number, member);
        }
        joined
    }

    fn dismiss(&mut self, part: Part) {
        self.left_out.remove(&part);
        let Some(number) = self.numbers.remove(&part) else { return };
        if self.members.get(&number).is_some_and(Member::has_failed) {
            self.members.remove(&number);
            self.watched.end_merged(number);
            self.dismissed.push(number);
        } else {
            self.leaving.insert(number, part);
            self.stream.remove(number);
        }
    }

    /// The lowest number of a part with that one's context and resource: the parts of a kind have it in common.
    pub(super) fn first_of_kind(&self, number: usize) -> usize {
        let Some(Member { planned: PlannedPart { part, .. }, .. }) = self.members.get(&number) else {
            return number;
        };
        let alike = self.members.iter().find(|(_, member)| {
            let other = &member.planned.part;
            other.context == part.context && other.resource == part.resource
        });
        alike.map_or(number, |(first, _)| *first)
    }

    /// Starts one that has joined; `late` is whether the others have been told before. Returns what says, once something
    /// is told of it, whether the server could not select it as asked.
    ///
    /// # Errors
    /// What was asked for can't be meant.
    pub(super) fn start(&mut self, number: usize, late: bool) -> anyhow::Result<Arc<AtomicBool>> {
        let Some(Member { planned, again, .. }) = self.members.get(&number) else {
            return Ok(Arc::default());
        };
        let Watch { selection, by, print, lines, flow, .. } = self.watch;
        let part = &planned.part;
        let filter = Filter::by(by).context(Usage)?;
        let representation = needs::of_lines(print.format, by.iter().map(|by| &by.index), lines);
        let source = self.session.source(part, selection, print, representation, filter).context(Usage)?;
        let source = self.watched.source(part, source);
        let selects_locally = source.selects_locally();
        let mut give_up = source.gives_up(true);
        let mut observer = self.watched.observer(part);
        if planned.open_type {
            // A type that is not there has not come yet, or has gone: the survey finds out which.
            give_up = found_or(give_up);
            observer = Watched::without_missing(observer, self.survey.recheck(part.cluster));
        }
        // One that is out of reach beside others is left out again, without a word.
        if late && (!*again || part.prefix.is_empty()) {
            give_up = but_what_passes(give_up);
        }
        if *again {
            observer = Watched::once_listed(observer);
        }
        // What is listed and may not be watched is no watch, and to ask again each few seconds makes none of it. But of
        // what joins the rights may be about to come: the others go on anyway, and it is asked for now and then.
        let give_up_watch = (!late && !*again).then(not_allowed);
        let options = ReflectorOptions {
            give_up: Some(give_up),
            give_up_watch,
            ..reflector_options(selection, &source, Some(observer))
        };
        // What is likely to be refused is asked for once, and not in two ways.
        let options = ReflectorOptions { watch_list: options.watch_list && !*again, ..options };
        if let Some(version) = &flow.from {
            let options = ReflectorOptions { resume_from: Some(version.as_str().into()), ..options };
            self.stream.resume(number, source.without_local_selection(), options);
        } else {
            let registration = self.stream.add(number, source, options, flow, self.members.len())?;
            if flow.coalesce {
                self.watched.count_merged(number, registration);
            }
        }
        Ok(selects_locally)
    }

    /// One has ended with an error.
    pub(super) fn fail(&mut self, number: usize) {
        self.stream.remove(number);
        if let Some(member) = self.members.get_mut(&number) {
            member.stage = Stage::Failed;
        }
    }

    /// One can't be had for now.
    pub(super) fn leave_out(&mut self, number: usize, error: Error) {
        self.stream.remove(number);
        if let Some(member) = self.members.get_mut(&number) {
            member.stage = Stage::LeftOut(error);
            self.left_out.add(member.planned.part.clone());
        }
    }

    /// Whether there are any that may be had later.
    pub(super) fn has_left_out(&self) -> bool {
        !self.left_out.is_empty()
    }

    /// Has those of them join again whose turn it is, at most so many, with the next [`Roster::call`].
    pub(super) fn try_left_out(&mut self, limit: usize) {
        let has_failed = |part: &Part| {
            let member = self.numbers.get(part).and_then(|number| self.members.get(number));
            member.is_some_and(Member::has_failed)
        };
        for part in self.left_out.take(limit, has_failed) {
            let Some(number) = self.numbers.remove(&part) else { continue };
            self.members.remove(&number);
            self.watched.end_merged(number);
            self.dismissed.push(number);
        }
    }

    /// One that was left out can be had.
    pub(super) fn admit(&mut self, number: usize) -> Option<Part> {
        let member = self.members.get_mut(&number).filter(|member| member.again)?;
        member.again = false;
        self.left_out.let_in(&member.planned.part);
        Some(member.planned.part.clone())
    }

    /// Strikes one off that has ended or left.
    pub(super) fn strike(&mut self, number: usize) {
        self.watched.end_merged(number);
        self.leaving.remove(&number);
        self.stream.remove(number);
        if let Some(member) = self.members.remove(&number)
            && self.numbers.get(&member.planned.part) == Some(&number)
        {
            self.numbers.remove(&member.planned.part);
        }
    }

    /// The errors of the objects that are asked for by name and are in none of the namespaces that match, each with
    /// what a message about it begins with. Only where all that is there has been told.
    pub(super) fn sought_in_vain(&self) -> Vec<(Arc<str>, Error)> {
        let is_in_vain = |named_in_matching: &Part| {
            let mut alike =
                self.members.values().filter(|member| member.planned.part.is_same_object(named_in_matching));
            alike.all(|member| member.planned.open_namespace && !member.found && !member.has_failed())
        };
        let named_in_matching = self.survey.named_in_matching().into_iter().filter(is_in_vain);
        let error = |part: Part| Some((Arc::clone(&part.prefix), part.not_found_in(&self.watch.selection)?));
        named_in_matching.filter_map(error).collect()
    }

    /// Whether there is an object that is asked for by name of which nothing is known yet.
    pub(super) fn awaits_names(&self) -> bool {
        let is_awaited = |member: &Member| {
            let PlannedPart { part, open_namespace, .. } = &member.planned;
            part.name.is_some() && !open_namespace && !member.found && matches!(member.stage, Stage::Begun)
        };
        self.members.values().any(is_awaited)
    }

    /// Whether it was told to leave.
    pub(super) fn is_leaving(&self, number: usize) -> bool {
        self.leaving.contains_key(&number)
    }

    /// Whether there is no part, and none that is still to be found.
    pub(super) fn is_empty(&self) -> bool {
        self.members.is_empty() && self.survey.is_settled()
    }

    /// Whether all that is asked for at the moment has been told once, or will never be.
    pub(super) fn is_synced(&self) -> bool {
        self.survey.is_settled() && self.members.values().all(|member| !matches!(member.stage, Stage::Begun))
    }

    /// Whether there are parts, and none of them goes on.
    pub(super) fn has_failed(&self) -> bool {
        let none_left = self.members.values().all(Member::has_failed);
        none_left && self.survey.is_settled() && (!self.members.is_empty() || !self.survey.has_plan())
    }
}

impl Member {
    /// The error of a part that is one name, when the whole state has been seen without it. In a namespace that nobody
    /// named it need not be.
    pub(super) fn missing(&self) -> Option<Error> {
        let is_synced = matches!(self.stage, Stage::Synced);
        let is_missing = is_synced && !self.found && !self.planned.open_namespace;
        self.planned.part.not_found().filter(|_| is_missing)
    }

    /// Whether it has ended, for good or for now.
    pub(super) fn has_failed(&self) -> bool {
        matches!(self.stage, Stage::Failed | Stage::LeftOut(_))
    }
}

/// A server of which others are watched already has answered before: what is wrong with it, or with the credentials,
/// concerns them all, and they go on through it.
fn but_what_passes(give_up: GiveUp) -> GiveUp {
    Arc::new(move |error| {
        let stays = matches!(
            error,
            Error::Forbidden(_) | Error::NotFound(_) | Error::NotSupported(_) | Error::Invalid(_)
        );
        stays && give_up(error)
    })
}

fn not_allowed() -> GiveUp {
    Arc::new(|error| matches!(error, Error::Forbidden(_)))
}

fn found_or(give_up: GiveUp) -> GiveUp {
    Arc::new(move |error| !matches!(error, Error::NotFound(_)) && give_up(error))
}
