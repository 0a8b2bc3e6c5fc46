//! Queries over the pods of `testbed load`, each as flags of kdelta and as a filter of jq that selects the same pods.

/// A question in both languages.
pub(crate) struct PodQuery {
    /// The flags of `kdelta get pods`.
    pub(crate) flags: Vec<String>,
    /// A condition on one pod, with [`DEFINITIONS`] before it.
    pub(crate) condition: String,
}

/// The functions that the conditions call.
pub(crate) const DEFINITIONS: &str = r#"
def factor: {"Ki": 1024, "Mi": 1048576, "Gi": 1073741824};
def bytes: . as $text | if factor[$text[-2:]] then ($text[:-2] | tonumber) * factor[$text[-2:]] else tonumber end;
def memory: .spec.containers[0].resources.requests.memory | bytes;
def third: ((.status.podIP // "0.0.255.0") | split(".")[2] | tonumber);
"#;

/// The number of all queries.
pub(crate) const COUNT: usize = 75;

/// A flag with its value, and the same condition in jq. `%` stands for a drawn value.
type Template = (&'static [&'static str], &'static str);

const APPS: &[&str] =
    &["web", "api", "worker", "cache", "queue", "search", "billing", "auth", "mailer", "ingest"];
const TEAMS: &[&str] =
    &["checkout", "catalog", "identity", "payments", "logistics", "growth", "platform", "data"];
const TIERS: &[&str] = &["frontend", "backend", "middle", "batch"];
const PHASES: &[&str] = &["Pending", "Succeeded", "Failed", "Running"];
const NUMBERS: &[&str] = &["5", "15", "25", "35", "45"];

/// Conditions that a server has a selector for.
const SELECTORS: &[(Template, &[&str])] = &[
    ((&["-l", "app=%"], r#".metadata.labels.app == "%""#), APPS),
    ((&["-l", "tier!=%"], r#".metadata.labels.tier != "%""#), TIERS),
    ((&["-l", "team in (%,data),track"], r#".metadata.labels.team | . == "%" or . == "data""#), TEAMS),
    ((&["--field-selector", "status.phase=%"], r#".status.phase == "%""#), PHASES),
    ((&["--field-selector", "status.phase!=%"], r#".status.phase != "%""#), PHASES),
    ((&["--by", "label:app=%"], r#".metadata.labels.app == "%""#), APPS),
    ((&["--by", "label:team!=%"], r#".metadata.labels.team != "%""#), TEAMS),
    ((&["--by", "node=worker-%"], r#".spec.nodeName == "worker-%""#), NUMBERS),
    ((&["--where", "object.spec.nodeName != 'worker-%'"], r#".spec.nodeName != "worker-%""#), NUMBERS),
    ((&["--where", "object.metadata.labels.tier == '%'"], r#".metadata.labels.tier == "%""#), TIERS),
    ((&["--where", "object.status.phase == '%'"], r#".status.phase == "%""#), PHASES),
];

/// Conditions that only a client can evaluate.
const EXPRESSIONS: &[(Template, &[&str])] = &[
    ((&["--by", "field:spec.serviceAccountName=%"], r#".spec.serviceAccountName == "%""#), APPS),
    (
        (
            &["--where", "object.spec.containers.exists(c, c.image.contains('/%/'))"],
            r#"any(.spec.containers[]; .image | contains("/%/"))"#,
        ),
        TEAMS,
    ),
    (
        (
            &[
                "--where",
                "quantity(object.spec.containers[0].resources.requests.memory).isGreaterThan(quantity('%0Mi'))",
            ],
            "memory > %0 * 1048576",
        ),
        NUMBERS,
    ),
    (
        (
            &[
                "--where",
                "timestamp(object.status.startTime) < timestamp('2026-09-01T08:00:00Z') + duration('%0h')",
            ],
            r#"(.status.startTime | fromdate) < ("2026-09-01T08:00:00Z" | fromdate) + %0 * 3600"#,
        ),
        NUMBERS,
    ),
    (
        (
            &["--where", "object.metadata.name.matches('^%-.*[bcdfg]$')"],
            r#".metadata.name | test("^%-.*[bcdfg]$")"#,
        ),
        APPS,
    ),
    (
        (
            &[
                "--where",
                "object.spec.terminationGracePeriodSeconds > % && !has(object.spec.containers[0].livenessProbe)",
            ],
            ".spec.terminationGracePeriodSeconds > % and .spec.containers[0].livenessProbe == null",
        ),
        NUMBERS,
    ),
    (
        (
            &[
                "--where",
                "object.spec.volumes.exists(v, has(v.emptyDir)) || object.metadata.labels.tier == '%'",
            ],
            r#"any(.spec.volumes[]; has("emptyDir")) or .metadata.labels.tier == "%""#,
        ),
        TIERS,
    ),
    ((&["--where", "cidr('10.2.0.0/20').containsIP(object.status.podIP)"], "third < 16"), &[""]),
    (
        (
            &["--where", "semver(object.metadata.labels.version, true).minor() >= %"],
            r#"(.metadata.labels.version | split(".")[1] | tonumber) >= %"#,
        ),
        NUMBERS,
    ),
    ((&["--name", "%-*"], r#".metadata.name | startswith("%-")"#), APPS),
    ((&["--name", "/-%-[0-9]*5-/"], r#".metadata.name | test("-%-[0-9]*5-")"#), TEAMS),
    (
        (
            &["--field-selector", "spec.terminationGracePeriodSeconds<%"],
            ".spec.terminationGracePeriodSeconds < %",
        ),
        NUMBERS,
    ),
];

/// Conditions on the results of expressions.
const RESULTS: &[(Template, &[&str])] = &[
    (
        (
            &["--where", "object.spec.containers.map(c, c.name).join('+') == '%+proxy'"],
            r#"([.spec.containers[].name] | join("+")) == "%+proxy""#,
        ),
        APPS,
    ),
    (
        (&["--by", "cel:object.metadata.name.split('-')[0]=%"], r#"(.metadata.name | split("-")[0]) == "%""#),
        APPS,
    ),
    (
        (
            &[
                "--by",
                "cel:object.spec.containers.map(c, c.image.split('/')[size(c.image.split('/')) - 2])=%,x",
            ],
            r#"any(.spec.containers[]; (.image | split("/")[-2]) == "%")"#,
        ),
        TEAMS,
    ),
    (
        (
            &[
                "--by",
                "cel:object.spec.terminationGracePeriodSeconds >= % && object.status.phase != 'Failed'=true",
            ],
            r#".spec.terminationGracePeriodSeconds >= % and .status.phase != "Failed""#,
        ),
        NUMBERS,
    ),
];

/// Returns [`COUNT`] queries: each condition alone, with drawn combinations of the others before those on results.
pub(crate) fn queries(seed: u64) -> Vec<PodQuery> {
    let mut random = fastrand::Rng::with_seed(seed);
    let mut all: Vec<PodQuery> =
        SELECTORS.iter().chain(EXPRESSIONS).map(|condition| draw(&[condition], &mut random)).collect();
    while all.len() + RESULTS.len() < COUNT {
        let mut pick = |from: &'static [(Template, &[&str])]| &from[random.usize(..from.len())];
        let drawn = [pick(SELECTORS), pick(EXPRESSIONS), pick(EXPRESSIONS)];
        let count = 2 + all.len() % 2;
        // kdelta takes one value of these flags, or several with another meaning.
        let mut flags: Vec<_> = drawn[..count].iter().map(|((words, _), _)| words[0]).collect();
        flags.retain(|flag| !matches!(*flag, "--where" | "--by"));
        let distinct: std::collections::BTreeSet<_> = flags.iter().collect();
        if distinct.len() == flags.len() {
            all.push(draw(&drawn[..count], &mut random));
        }
    }
    all.extend(RESULTS.iter().map(|condition| draw(&[condition], &mut random)));
    all
}

fn draw(templates: &[&(Template, &[&str])], random: &mut fastrand::Rng) -> PodQuery {
    let mut query = PodQuery { flags: Vec::new(), condition: "true".to_owned() };
    for ((words, condition), values) in templates {
        let value = values[random.usize(..values.len())];
        query.flags.extend(words.iter().map(|word| word.replace('%', value)));
        query.condition = format!("{} and ({})", query.condition, condition.replace('%', value));
    }
    query
}
