//! The running parts of a watch, kept in step with the targets.

mod give_up;
mod part_state;

pub(super) use part_state::{PartState, Stage};

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use kdelta::listwatch::Error;
use kdelta::recording::Redaction;
use kdelta::reflector::ReflectorOptions;
use kdelta::wire::Representation;

use self::give_up::{except_not_found, if_forbidden, permanent_only};
use super::merged_stream::MergedStream;
use super::part_readings::{PartBuffers, Readings};
use super::unavailable_parts::UnavailableParts;
use crate::commands::query_plan::{watch_conditions, watch_source};
use crate::commands::reporter::Reporter;
use crate::metrics::PartMetrics;
use crate::session::{
    Filter, KnownState, Part, PartSource, PlannedPart, Session, TargetSet, reflector_options,
};
use crate::settings::{Selection, Watch};

/// The parts that a command watches and how it requests them, for commands whose requests differ from those of `kdelta watch`.
pub(in crate::commands) trait PartRequests {
    /// Returns the parts to watch, of those that the selection resolves to.
    fn selected(&self, planned: Vec<PlannedPart>) -> Vec<PlannedPart>;

    /// Returns the selection and the representation to request for a part.
    fn request(&self, part: &Part) -> (Cow<'_, Selection>, Representation);
}

/// The states from which parts continue, as a consumer of an earlier watch left them.
pub(in crate::commands) trait KnownStates {
    /// Returns the state from which a part continues; `None` to list it.
    fn known_state(&self, part: &Part) -> Option<KnownState>;
}

/// The parts of a stream by number. Numbers are never reused.
pub(in crate::commands) struct Parts<'a> {
    pub(super) session: &'a Session,
    watch: &'a Watch,
    /// The requests, if they do not follow from the watch.
    requests: Option<&'a dyn PartRequests>,
    known_states: Option<&'a dyn KnownStates>,
    redaction: Option<Arc<Redaction>>,
    reporter: Reporter,
    pub(super) targets: TargetSet,
    pub(super) stream: MergedStream,
    pub(super) states: BTreeMap<usize, PartState>,
    /// The numbers of the current parts.
    numbers: HashMap<Part, usize>,
    /// Parts that are being removed. The same part can be added again after that.
    leaving: HashMap<usize, Part>,
    /// Failed parts that were removed or are being retried, until the printer is updated.
    pub(super) removed: Vec<usize>,
    /// Parts that the user did not name and that are forbidden or unreachable, already reported. They are retried from
    /// time to time.
    unavailable: UnavailableParts,
    next: usize,
}

impl<'a> Parts<'a> {
    pub(in crate::commands) fn new(
        session: &'a Session,
        watch: &'a Watch,
        reporter: Reporter,
        targets: TargetSet,
    ) -> Self {
        Self {
            session,
            watch,
            requests: None,
            known_states: None,
            redaction: None,
            reporter,
            targets,
            stream: MergedStream::new(&watch.flow),
            states: BTreeMap::new(),
            numbers: HashMap::new(),
            leaving: HashMap::new(),
            removed: Vec::new(),
            unavailable: UnavailableParts::default(),
            next: 0,
        }
    }

    /// Sets the parts to watch and their requests.
    pub(in crate::commands) fn with_requests(self, requests: &'a dyn PartRequests) -> Self {
        Self { requests: Some(requests), ..self }
    }

    /// Sets the states from which parts continue.
    pub(in crate::commands) fn with_known_states(self, known_states: &'a dyn KnownStates) -> Self {
        Self { known_states: Some(known_states), ..self }
    }

    /// Sets the redaction of received objects.
    pub(in crate::commands) fn with_redaction(self, redaction: Option<Arc<Redaction>>) -> Self {
        Self { redaction, ..self }
    }

    /// Makes the parts report bookmarks.
    pub(in crate::commands) fn with_bookmarks(mut self) -> Self {
        self.stream.report_bookmarks();
        self
    }

    /// Makes the parts deliver the stored objects, for a sink that keeps them.
    pub(in crate::commands) fn with_stored_objects(mut self) -> Self {
        self.stream.deliver_stored();
        self
    }

    /// Removes the parts that the targets no longer include and adds new ones. Returns the added parts, which do not
    /// run before [`Parts::start`].
    pub(super) fn reconcile(&mut self) -> Vec<(usize, Part)> {
        let planned = self.targets.parts();
        let planned = match self.requests {
            Some(requests) => requests.selected(planned),
            None => planned,
        };
        let planned_parts: HashSet<&Part> = planned.iter().map(|planned| &planned.part).collect();
        let gone: Vec<Part> =
            self.numbers.keys().filter(|part| !planned_parts.contains(part)).cloned().collect();
        for part in gone {
            self.remove(part);
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
            let is_retry = self.unavailable.contains(&planned.part);
            self.states.insert(number, PartState::started(planned, is_retry));
        }
        joined
    }

    fn remove(&mut self, part: Part) {
        self.unavailable.remove(&part);
        let Some(number) = self.numbers.remove(&part) else { return };
        if self.states.get(&number).is_some_and(PartState::has_failed) {
            self.states.remove(&number);
            self.reporter.end_merged(number);
            self.removed.push(number);
        } else {
            self.leaving.insert(number, part);
            self.stream.remove(number);
        }
    }

    /// Returns the lowest number of a part with the same context and resource.
    pub(super) fn first_of_kind(&self, number: usize) -> usize {
        let Some(PartState { planned: PlannedPart { part, .. }, .. }) = self.states.get(&number) else {
            return number;
        };
        let alike = self.states.iter().find(|(_, state)| {
            let other = &state.planned.part;
            other.context == part.context && other.resource == part.resource
        });
        alike.map_or(number, |(first, _)| *first)
    }

    /// Starts an added part; `is_late` is whether the initial state of the other parts is complete. Returns whether the
    /// field selector is applied locally, which is final once the first event arrives.
    ///
    /// # Errors
    /// Returns an error if an option is invalid.
    pub(super) fn start(&mut self, number: usize, is_late: bool) -> anyhow::Result<Arc<AtomicBool>> {
        let Some(state) = self.states.get(&number) else { return Ok(Arc::default()) };
        let Watch { flow, .. } = self.watch;
        let part = &state.planned.part;
        let source = self.source(part)?;
        let selects_locally = source.selects_locally();
        let metrics = self.reporter.part_metrics(part, state.is_retry);
        let received = source.received_count();
        if metrics.is_some() {
            received.keep_last_message();
        }
        let options = self.reflector_options(state, &source, is_late, metrics.as_ref());
        let buffers = if let Some(version) = &flow.from {
            let options = options.resume_from(Some(version.as_str().into()));
            PartBuffers::Channel(self.stream.resume(number, source.without_local_selection(), options))
        } else {
            // Without the bodies of objects, a filter that depends on the time can't be evaluated again.
            let can_continue = source.time_filter().is_none();
            let known =
                self.known_states.filter(|_| can_continue).and_then(|states| states.known_state(part));
            let count = self.states.len();
            let (informer, registration) = self.stream.add(number, source, known, options, flow, count)?;
            if flow.coalesce {
                self.reporter.count_merged(number, registration.clone());
            }
            PartBuffers::Informer(informer, registration)
        };
        self.measure(number, metrics, Readings { buffers, received });
        Ok(selects_locally)
    }

    /// Returns the source of a part, as the consumer of the watch requests it.
    fn source(&self, part: &Part) -> anyhow::Result<PartSource> {
        let source = if let Some(requests) = self.requests {
            let (selection, representation) = requests.request(part);
            let print = &self.watch.print;
            let source = self.session.source(part, &selection, print, representation, Filter::default());
            self.reporter.source(part, &selection, source)
        } else {
            let conditions = watch_conditions(self.session, self.watch, part);
            let source = watch_source(self.session, self.watch, part, &conditions)?;
            self.reporter.source(part, &self.watch.selection, source)
        };
        Ok(source.with_redaction(self.redaction.clone()))
    }

    /// Returns the options of a part's reflector: the reports of its progress, and the errors that end it.
    fn reflector_options(
        &self,
        state: &PartState,
        source: &PartSource,
        is_late: bool,
        metrics: Option<&PartMetrics>,
    ) -> ReflectorOptions {
        let PartState { planned, is_retry, watch_refusal, .. } = state;
        let part = &planned.part;
        let mut give_up = source.gives_up(true);
        let mut observer = watch_refusal.observe(self.reporter.observer(part));
        if planned.open_type {
            // A missing type may not be served yet or may be deleted; discovery finds out.
            give_up = except_not_found(give_up);
            observer = Reporter::ignoring_missing(observer, self.targets.recheck(part.cluster));
        }
        // With several clusters, an unreachable one is marked unavailable again, silently.
        if is_late && (!*is_retry || part.prefix.is_empty()) {
            give_up = permanent_only(give_up);
        }
        if *is_retry {
            observer = Reporter::after_first_list(observer);
        }
        // A part that may be listed but not watched is an error at the start. Later parts may still get the right to
        // watch, so they are retried from time to time.
        let give_up_watch = (!is_late && !*is_retry).then(if_forbidden);
        let observer = Reporter::measured(observer, metrics.map(PartMetrics::status));
        let options = reflector_options(&self.watch.selection, source, Some(observer))
            .give_up(Some(give_up))
            .give_up_watch(give_up_watch);
        // Retries probably fail, so they make one request and not two.
        let watch_list = options.watch_list && !*is_retry;
        options.watch_list(watch_list)
    }

    /// Keeps the measurements of a part while it runs.
    fn measure(&mut self, number: usize, metrics: Option<PartMetrics>, readings: Readings) {
        if let (Some(state), Some(metrics)) = (self.states.get_mut(&number), metrics) {
            metrics.set_readings(readings);
            state.metrics = Some(metrics);
        }
        // A resumed watch has no initial state, and is the only part.
        if let Some(metrics) = self.reporter.metrics().filter(|_| self.watch.flow.from.is_some()) {
            metrics.mark_synced();
        }
    }

    /// Marks a part as ended with an error.
    pub(super) fn mark_failed(&mut self, number: usize) {
        self.stream.remove(number);
        if let Some(state) = self.states.get_mut(&number) {
            state.stage = Stage::Failed;
            state.metrics = None;
        }
    }

    /// Marks a part as unavailable for now.
    pub(super) fn mark_unavailable(&mut self, number: usize, error: Error) {
        self.stream.remove(number);
        if let Some(state) = self.states.get_mut(&number) {
            state.stage = Stage::Unavailable(error);
            state.metrics = None;
            self.unavailable.add(state.planned.part.clone());
        }
    }

    /// Whether any part may become available later.
    pub(super) fn has_unavailable(&self) -> bool {
        !self.unavailable.is_empty()
    }

    /// Selects up to `limit` unavailable parts to be added again by the next [`Parts::reconcile`].
    pub(super) fn retry_unavailable(&mut self, limit: usize) {
        let has_failed = |part: &Part| {
            let state = self.numbers.get(part).and_then(|number| self.states.get(number));
            state.is_some_and(PartState::has_failed)
        };
        for part in self.unavailable.take(limit, has_failed) {
            let Some(number) = self.numbers.remove(&part) else { continue };
            self.states.remove(&number);
            self.reporter.end_merged(number);
            self.removed.push(number);
        }
    }

    /// Marks an unavailable part as available.
    pub(super) fn mark_available(&mut self, number: usize) -> Option<Part> {
        let state = self.states.get_mut(&number).filter(|state| state.is_retry)?;
        state.is_retry = false;
        self.unavailable.mark_available(&state.planned.part);
        Some(state.planned.part.clone())
    }

    /// Removes the state of a part that has ended or was removed.
    pub(super) fn forget(&mut self, number: usize) {
        self.reporter.end_merged(number);
        self.leaving.remove(&number);
        self.stream.remove(number);
        if let Some(state) = self.states.remove(&number)
            && self.numbers.get(&state.planned.part) == Some(&number)
        {
            self.numbers.remove(&state.planned.part);
        }
    }

    /// Returns the errors of named objects that exist in no matching namespace, each with its message prefix. Only
    /// valid once everything is synced.
    pub(super) fn missing_names(&self) -> Vec<(Arc<str>, Error)> {
        let is_missing = |named_in_matching: &Part| {
            let mut alike =
                self.states.values().filter(|state| state.planned.part.is_same_object(named_in_matching));
            alike.all(|state| state.planned.open_namespace && !state.has_object && !state.has_failed())
        };
        let named_in_matching = self.targets.named_in_matching().into_iter().filter(is_missing);
        let error = |part: Part| Some((Arc::clone(&part.prefix), part.not_found_in(&self.watch.selection)?));
        named_in_matching.filter_map(error).collect()
    }

    /// Whether a named object is still unknown to exist or not.
    pub(super) fn awaits_names(&self) -> bool {
        let is_awaited = |state: &PartState| {
            let PlannedPart { part, open_type, open_namespace } = &state.planned;
            part.name.is_some()
                && !(*open_type || *open_namespace)
                && !state.has_object
                && matches!(state.stage, Stage::Started)
        };
        self.states.values().any(is_awaited)
    }

    /// Whether the part is being removed.
    pub(super) fn is_leaving(&self, number: usize) -> bool {
        self.leaving.contains_key(&number)
    }

    /// Whether there is no part and none is pending.
    pub(super) fn is_empty(&self) -> bool {
        self.states.is_empty() && self.targets.is_settled()
    }

    /// Whether every current part is synced or has failed.
    pub(super) fn is_synced(&self) -> bool {
        self.targets.is_settled() && self.states.values().all(|state| !matches!(state.stage, Stage::Started))
    }

    /// Whether there are parts and all have failed.
    pub(super) fn has_failed(&self) -> bool {
        let none_left = self.states.values().all(PartState::has_failed);
        none_left && self.targets.is_settled() && (!self.states.is_empty() || !self.targets.has_plan())
    }
}
