//! One run and its measurements.

use std::fmt;
use std::hint::black_box;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use kdelta::informer::{BodyStorage, QueueKind, SharedIndexInformer};
use kdelta::object::FieldPath;
use kdelta::reflector::{BackoffOptions, ReflectorEvent, ReflectorOptions};
use kdelta::store::{Indexer, index_funcs};
use tokio_util::sync::CancellationToken;

use crate::Options;
use crate::source::Source;

/// The measurements of one run.
pub(crate) struct Measurement {
    pub(crate) objects: u32,
    /// Until all objects are in the store.
    seconds: f64,
    /// CPU time of the process until then, without generating the pods.
    cpu: f64,
    /// Peak resident memory until then, and after a relist; MiB.
    peak: f64,
    peak_relisted: f64,
    /// Memory of the process before the run.
    base: f64,
    /// Body bytes per object as text, and as stored.
    text_each: f64,
    body_each: f64,
    /// Time to get one object by its key.
    pub(crate) lookup_nanos: f64,
    /// Time to get the keys under one of 500 index values.
    by_index_micros: f64,
    /// Time to get one JSON text.
    unpack_nanos: f64,
}

impl Measurement {
    pub(crate) const HEADER: &str = "objects    seconds  cpu s  cpu µs each  peak MiB  relisted  bytes each  text each  body each  get ns  index µs  json ns";

    /// Returns the CPU time per object, in microseconds.
    pub(crate) fn cpu_each(&self) -> f64 {
        self.cpu * 1e6 / f64::from(self.objects)
    }

    /// Returns the time per object, in microseconds.
    pub(crate) fn time_each(&self) -> f64 {
        self.seconds * 1e6 / f64::from(self.objects)
    }

    /// Returns the peak in MB, of a million bytes.
    pub(crate) fn peak_megabytes(&self) -> f64 {
        self.peak * 1.048_576
    }

    /// Returns the resident memory per object, without that of the empty process.
    pub(crate) fn held_each(&self) -> f64 {
        (self.peak - self.base) * 1_048_576.0 / f64::from(self.objects)
    }

    fn numbers(&self) -> [f64; 10] {
        [
            self.seconds,
            self.cpu,
            self.peak,
            self.peak_relisted,
            self.base,
            self.text_each,
            self.body_each,
            self.lookup_nanos,
            self.by_index_micros,
            self.unpack_nanos,
        ]
    }

    /// Returns a line for the parent process.
    pub(crate) fn line(&self) -> String {
        let numbers: Vec<String> = self.numbers().iter().map(f64::to_string).collect();
        format!("measured {} {}", self.objects, numbers.join(" "))
    }

    pub(crate) fn read(line: &str) -> Option<Self> {
        let mut words = line.strip_prefix("measured ")?.split(' ');
        let objects = words.next()?.parse().ok()?;
        let mut next = || words.next()?.parse::<f64>().ok();
        Some(Self {
            objects,
            seconds: next()?,
            cpu: next()?,
            peak: next()?,
            peak_relisted: next()?,
            base: next()?,
            text_each: next()?,
            body_each: next()?,
            lookup_nanos: next()?,
            by_index_micros: next()?,
            unpack_nanos: next()?,
        })
    }
}

impl fmt::Display for Measurement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{:<10} {:>7.2} {:>6.2} {:>12.2} {:>9.1} {:>9.1} {:>11.0} {:>10.0} {:>10.0} {:>7.0} {:>9.1} {:>8.0}",
            self.objects,
            self.seconds,
            self.cpu,
            self.cpu_each(),
            self.peak,
            self.peak_relisted,
            self.held_each(),
            self.text_each,
            self.body_each,
            self.lookup_nanos,
            self.by_index_micros,
            self.unpack_nanos,
        )
    }
}

/// Syncs an informer of this many pods, queries it, and makes it relist.
pub(crate) fn measure(objects: u32, run_options: Options) -> Measurement {
    let source = Source::new(objects);
    let making = making(&source, objects);
    let base = status("VmHWM:");
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_time().build();
    runtime.expect("a runtime").block_on(run(source, objects, run_options, making, base))
}

async fn run(source: Source, objects: u32, run_options: Options, making: Duration, base: f64) -> Measurement {
    let listed = Arc::new(AtomicU64::new(0));
    let observer = {
        let listed = Arc::clone(&listed);
        Arc::new(move |event: &ReflectorEvent| {
            listed.fetch_add(u64::from(matches!(event, ReflectorEvent::Listed { .. })), Ordering::Relaxed);
        })
    };
    let backoff = BackoffOptions::default().start(Duration::from_millis(1));
    let options = ReflectorOptions::default().observer(Some(observer)).backoff(backoff);
    let phase = FieldPath::parse("status.phase").expect("a path");
    let indexers = [
        ("namespace".to_owned(), index_funcs::namespace()),
        ("node".to_owned(), index_funcs::node()),
        ("phase".to_owned(), index_funcs::field(phase)),
    ];
    let informer = SharedIndexInformer::builder(source.clone())
        .indexers(indexers.into())
        .queue(if run_options.delta { QueueKind::Delta } else { QueueKind::Ordered })
        .body_storage(if run_options.text { BodyStorage::Text } else { BodyStorage::Compressed })
        .reflector(options)
        .build();
    let stop = CancellationToken::new();
    let (began, cpu) = (Instant::now(), cpu());
    let running = tokio::spawn(informer.run(stop.clone()));
    assert!(informer.synced().await, "the informer ended");
    let seconds = began.elapsed().as_secs_f64();
    let cpu = self::cpu() - cpu;
    let peak = status("VmHWM:");
    let indexer = informer.get_indexer();
    let memory = indexer.memory();
    assert_eq!(u32::try_from(memory.bodies.objects), Ok(objects));
    eprintln!("{memory}");
    let [lookup_nanos, unpack_nanos] = look_up(&*indexer, &source, objects);
    let began_index = Instant::now();
    for node in 0..500 {
        black_box(indexer.by_index("node", &format!("node-{node}")).expect("an index"));
    }
    let by_index_micros = began_index.elapsed().as_secs_f64() * 1e6 / 500.0;
    source.expire();
    while listed.load(Ordering::Relaxed) < 2 {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    assert_eq!(u32::try_from(indexer.list_keys().len()), Ok(objects));
    let peak_relisted = status("VmHWM:");
    stop.cancel();
    running.await.expect("no panic").expect("a run without an error");
    let making = making.as_secs_f64();
    Measurement {
        objects,
        seconds: seconds - making,
        cpu: cpu - making,
        peak,
        peak_relisted,
        base,
        text_each: each(memory.bodies.text_bytes, objects),
        body_each: each(memory.bodies.stored_bytes(), objects),
        lookup_nanos,
        by_index_micros,
        unpack_nanos,
    }
}

/// Returns the bytes per object.
fn each(bytes: usize, objects: u32) -> f64 {
    u32::try_from(bytes / objects.max(1) as usize).map_or(f64::NAN, f64::from)
}

/// Returns the time to generate the pods without using them.
fn making(source: &Source, objects: u32) -> Duration {
    let began = Instant::now();
    let mut buffer = String::new();
    for number in 0..objects {
        buffer.clear();
        source.write_pod(number, &mut buffer);
        black_box(&buffer);
    }
    began.elapsed()
}

/// Returns the nanoseconds to get an object by its key, and to get the JSON of one.
fn look_up(indexer: &dyn Indexer, source: &Source, objects: u32) -> [f64; 2] {
    const TIMES: u32 = 10_000;
    let mut random = fastrand::Rng::with_seed(7);
    let keys: Vec<String> = (0..TIMES).map(|_| source.key(random.u32(..objects))).collect();
    let began = Instant::now();
    let found: Vec<_> = keys.iter().map(|key| indexer.get_by_key(key).expect("a pod")).collect();
    let got = began.elapsed();
    let began = Instant::now();
    for object in &found {
        black_box(object.json());
    }
    [got, began.elapsed()].map(|took| took.as_secs_f64() * 1e9 / f64::from(TIMES))
}

/// Returns a number of /proc/self/status in MiB, or 0 without the file.
fn status(name: &str) -> f64 {
    let text = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = text.lines().find_map(|line| line.strip_prefix(name));
    let kib = line.and_then(|line| line.trim().strip_suffix(" kB")?.parse::<f64>().ok());
    kib.unwrap_or_default() / 1024.0
}

/// Returns the CPU seconds of this process so far, or 0 on systems that do not report them.
fn cpu() -> f64 {
    let text = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let ticks = text.rsplit(')').next().map(|rest| {
        rest.split_whitespace().skip(11).take(2).filter_map(|number| number.parse::<f64>().ok()).sum::<f64>()
    });
    // Linux reports hundredths of a second to user space.
    ticks.unwrap_or_default() / 100.0
}
