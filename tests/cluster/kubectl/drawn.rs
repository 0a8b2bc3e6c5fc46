//! Combinations of objects, flags and formats, drawn from a seed.

use std::collections::BTreeSet;

use super::invocations::Invocation;

/// The objects of an invocation. The second kind of entry names objects, so a namespace of another place fits badly.
const OBJECTS: [&str; 24] = [
    "pods",
    "po,svc",
    "deploy",
    "svc",
    "nodes",
    "cm",
    "secrets",
    "events",
    "widgets",
    "widgets.v1beta1.kdelta.test",
    "realms",
    "all",
    "gadgets",
    "sts,ds,job",
    "pods web-1 web-2",
    "pod/web-1 svc/web",
    "pod web-1",
    "deploy web",
    "widget plain hard",
    "cm settings a.b-c.d",
    "node worker-1 worker-2",
    "pod nope",
    "pod web-1 nope",
    "roles,rolebindings",
];
const PLACES: [&str; 6] = ["", "-A", "-n other", "-n empty", "-n shop", "--as jane"];
const SELECTIONS: [&str; 7] = [
    "",
    "-l app=web",
    "-l 'app in (web,api)'",
    "-l '!app'",
    "--field-selector metadata.name=web",
    "--field-selector metadata.name!=web-1",
    "-l none=such",
];
const FORMATS: [&str; 14] = [
    "",
    "-o wide",
    "-o name",
    "-o json",
    "-o yaml",
    "-o kyaml",
    "-o jsonpath='{.items[*].metadata.name}'",
    "-o jsonpath='{.metadata.name}{.kind}'",
    "-o jsonpath='{range .items[*]}{.kind}/{.metadata.name}{\"\\n\"}{end}'",
    "-o go-template='{{range .items}}{{.metadata.name}} {{end}}'",
    "-o go-template='{{.kind}} {{len .metadata}}'",
    "-o custom-columns=KIND:.kind,NAME:.metadata.name,APP:.metadata.labels.app",
    "-o jsonpath-as-json='{.items[*].metadata.name}'",
    "--server-print=false",
];
const MODIFIERS: [&str; 12] = [
    "",
    "--no-headers",
    "--show-labels",
    "--show-kind",
    "-L app,tier",
    "--sort-by=.metadata.name",
    "--sort-by=.metadata.creationTimestamp",
    "--sort-by='{.metadata.labels.app}'",
    "--ignore-not-found",
    "--chunk-size=1",
    "--show-managed-fields",
    "--allow-missing-template-keys=false",
];

/// The conditions of `wait`.
const CONDITIONS: [&str; 9] = [
    "--for=condition=Ready",
    "--for=condition=Available=False",
    "--for=jsonpath='{.metadata.name}'",
    "--for=jsonpath='{.metadata.labels.app}'=web",
    "--for=jsonpath='{.status.conditions[*].type}'",
    "--for=jsonpath='{.spec}'=x",
    "--for=create",
    "--for=delete",
    "--for=create --for=jsonpath='{.kind}'",
];
const WAIT_FORMATS: [&str; 6] =
    ["", "", "-o name", "-o json", "-o yaml", "-o go-template='{{.kind}}/{{.metadata.name}} '"];

/// Draws `count` waits that check each condition once. The same seed gives the same ones.
pub(super) fn waits(seed: u64, count: usize) -> Vec<Invocation> {
    let mut random = Random(seed);
    let mut known: BTreeSet<String> = BTreeSet::new();
    while known.len() < count {
        let parts = [
            "wait",
            random.pick(&OBJECTS),
            random.pick(&["--all", "", ""]),
            random.pick(&PLACES),
            if random.below(3) == 0 { random.pick(&SELECTIONS) } else { "" },
            random.pick(&CONDITIONS),
            random.pick(&WAIT_FORMATS),
            "--timeout=0",
        ];
        known.insert(parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(" "));
    }
    known.iter().map(|line| Invocation::parse(line)).collect()
}

/// Draws `count` invocations that the table does not have. The same seed gives the same ones.
pub(super) fn combinations(table: &[Invocation], seed: u64, count: usize) -> Vec<Invocation> {
    let mut random = Random(seed);
    let mut known: BTreeSet<String> = table.iter().map(|invocation| invocation.line.clone()).collect();
    let mut drawn = Vec::new();
    while drawn.len() < count {
        let second = if random.below(3) == 0 { random.pick(&MODIFIERS) } else { "" };
        let selection = if random.below(3) == 0 { random.pick(&SELECTIONS) } else { "" };
        let parts = [
            "get",
            random.pick(&OBJECTS),
            random.pick(&PLACES),
            selection,
            random.pick(&FORMATS),
            random.pick(&MODIFIERS),
            second,
        ];
        let line = parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(" ");
        if known.insert(line.clone()) {
            drawn.push(Invocation::parse(&line));
        }
    }
    drawn
}

/// The generator of `SplitMix64`: its sequence never changes, unlike that of a library's default generator.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    fn below(&mut self, limit: usize) -> usize {
        usize::try_from(self.next() % limit as u64).expect("less than the limit")
    }

    fn pick(&mut self, from: &[&'static str]) -> &'static str {
        from[self.below(from.len())]
    }
}
