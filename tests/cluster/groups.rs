//! `index` with aggregates, tables and `-w`, compared with groups that are computed from the server's JSON.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use crate::support::{OnServer, TestEnv, config_maps};

/// The path of the memory that a pod requests.
const MEMORY: &str = "spec.containers[*].resources.requests.memory";

/// Returns the bytes of a quantity in the forms that the tests use.
fn bytes(quantity: &str) -> u64 {
    let number = |digits: &str| digits.parse::<u64>().expect("a number");
    match (quantity.strip_suffix("Gi"), quantity.strip_suffix("Mi"), quantity.strip_suffix('M')) {
        (Some(gibibytes), ..) => number(gibibytes) << 30,
        (_, Some(mebibytes), _) => number(mebibytes) << 20,
        (.., Some(megabytes)) => number(megabytes) * 1_000_000,
        _ => number(quantity),
    }
}

/// Returns the memory of each container that requests some.
fn memory(pod: &Value) -> Vec<u64> {
    let containers = pod["spec"]["containers"].as_array().expect("containers").iter();
    containers.filter_map(|each| Some(bytes(each["resources"]["requests"]["memory"].as_str()?))).collect()
}

fn create_pods(on: &OnServer) {
    let tiers = ["web", "db", "cache"];
    let memories = ["64Mi", "1Gi", "250M", "1536Mi", ""];
    for number in 0..24_usize {
        let requests = |offset: usize| match memories[(number + offset) % memories.len()] {
            "" => json!({"cpu": "100m"}),
            memory => json!({"memory": memory}),
        };
        let container = |name: &str, offset| json!({"name": name, "image": "i", "resources": {"requests": requests(offset)}});
        let mut labels = json!({"number": number.to_string()});
        if number % 7 != 0 {
            labels["tier"] = tiers[number % 3].into();
        }
        let pod = json!({
            "metadata": {"name": format!("pod-{number:02}"), "labels": labels},
            "spec": {"nodeName": format!("node-{}", number % 4), "automountServiceAccountToken": false,
                "containers": [container("a", 0), container("b", number / 3)]},
        });
        on.api.create(&format!("/api/v1/namespaces/{}/pods", on.namespace), &pod);
    }
}

#[test]
#[cfg_attr(not(has_go), ignore = "needs Go")]
fn aggregates_and_tables_equal_those_of_the_servers_json() {
    let on = TestEnv::on_server();
    create_pods(&on);
    let OnServer { env, testbed, api, namespace } = on;
    let list = api.get(&format!("/api/v1/namespaces/{namespace}/pods"));
    let pods = list["items"].as_array().expect("items");
    let index = |flags: &[&str]| -> Value {
        let words = ["index", "pods", "-n", &namespace, "-o", "json"];
        let stdout = env.kdelta_on(testbed, &[&words, flags].concat()).finish().quiet_success();
        serde_json::from_str(&stdout).expect("JSON")
    };

    let functions = ["--sum", MEMORY, "--max", MEMORY, "--min", MEMORY, "--avg", MEMORY];
    let by_node = index(&[&["--by", "node"][..], &functions].concat());
    let nodes = by_node["values"].as_array().expect("values");
    assert_eq!(nodes.len(), 4);
    for node in nodes {
        let on_node: Vec<&Value> =
            pods.iter().filter(|pod| pod["spec"]["nodeName"] == node["value"]).collect();
        let memory: Vec<u64> = on_node.iter().flat_map(|pod| memory(pod)).collect();
        let sum: u64 = memory.iter().sum();
        assert_eq!(node["count"], on_node.len());
        assert_eq!(node["sum"][MEMORY], sum, "{node}");
        assert_eq!(node["max"][MEMORY], *memory.iter().max().expect("some"), "{node}");
        assert_eq!(node["min"][MEMORY], *memory.iter().min().expect("some"), "{node}");
        let count = memory.len() as u64;
        assert_eq!(node["avg"][MEMORY], (2 * sum + count) / (2 * count), "rounded to whole bytes: {node}");
    }

    let table = index(&["--by", "node", "--by", "label:tier!=db", "--sum", MEMORY]);
    let (mut cells, mut rows, mut columns) = (BTreeMap::new(), BTreeMap::new(), BTreeMap::new());
    let (mut total, mut tiered) = ((0_usize, 0), 0);
    for pod in pods {
        let (node, tier) = (pod["spec"]["nodeName"].as_str(), pod["metadata"]["labels"]["tier"].as_str());
        let (Some(node), Some(tier)) = (node, tier.filter(|tier| *tier != "db")) else { continue };
        let memory: u64 = memory(pod).iter().sum();
        let groups = [
            cells.entry((node, tier)).or_insert((0, 0)),
            rows.entry(node).or_insert((0, 0)),
            columns.entry(tier).or_insert((0, 0)),
            &mut total,
        ];
        for (count, sum) in groups {
            (*count, *sum) = (*count + 1, *sum + memory);
        }
        tiered += 1;
    }
    let measured = |group: &Value| {
        let count = group["count"].as_u64().and_then(|count| usize::try_from(count).ok()).expect("a count");
        (count, group["sum"][MEMORY].as_u64().unwrap_or_default())
    };
    let groups = |name: &str| table[name].as_array().expect(name).clone();
    let value = |group: &Value, index: &str| group["values"][index].as_str().unwrap_or_default().to_owned();
    let found: BTreeMap<_, _> = groups("cells")
        .iter()
        .map(|group| ((value(group, "node"), value(group, "label:tier")), measured(group)))
        .collect();
    let expected = cells.iter().map(|((node, tier), sums)| (((*node).to_owned(), (*tier).to_owned()), *sums));
    assert_eq!(found, expected.collect());
    for (name, index, expected) in [("rows", "node", rows), ("columns", "label:tier", columns)] {
        let found: BTreeMap<_, _> =
            groups(name).iter().map(|group| (value(group, index), measured(group))).collect();
        assert_eq!(found, expected.into_iter().map(|(value, sums)| (value.to_owned(), sums)).collect());
    }
    assert_eq!(groups("totals").iter().map(measured).collect::<Vec<_>>(), [total]);
    assert!(tiered > 0 && tiered < pods.len());
}

#[test]
#[cfg_attr(not(has_go), ignore = "needs Go")]
fn conditions_select_the_objects_of_label_selectors() {
    let on = TestEnv::on_server();
    create_pods(&on);
    let OnServer { env, testbed, namespace, .. } = on;
    let names = |flags: &[&str]| {
        let words = ["get", "pods", "-n", &namespace, "-o", "name"];
        env.kdelta_on(testbed, &[&words, flags].concat()).finish().quiet_success()
    };
    for (by, selector) in [
        ("label:tier", "tier"),
        ("!label:tier", "!tier"),
        ("label:tier!=web", "tier!=web"),
        ("label:tier!=web,db", "tier notin (web,db)"),
        ("label:tier in (web, db)", "tier in (web,db)"),
        ("label:tier==web", "tier==web"),
        ("label:tier notin (web)", "tier notin (web)"),
    ] {
        let expected = names(&["-l", selector]);
        assert!(!expected.is_empty(), "{selector}");
        assert_eq!(names(&["--by", by]), expected, "{by}");
        // A further condition that every pod meets is not about labels.
        assert_eq!(names(&["--by", by, "--by", "field:spec.containers[*].name"]), expected, "{by}");
    }
}

/// Returns the count and the sum of the numbers of the config maps of each team.
fn teams(config_maps: &Value) -> BTreeMap<String, (u64, i64)> {
    let mut teams = BTreeMap::new();
    for item in config_maps["items"].as_array().expect("items") {
        let Some(team) = item["metadata"]["labels"]["team"].as_str() else { continue };
        let number = item["data"]["n"].as_str().map_or(0, |number| number.parse().expect("a number"));
        let (count, sum) = teams.entry(team.to_owned()).or_insert((0, 0));
        (*count, *sum) = (*count + 1, *sum + number);
    }
    teams
}

#[test]
#[cfg_attr(not(has_go), ignore = "needs Go")]
fn live_groups_follow_creations_updates_and_deletions() {
    let OnServer { env, testbed, api, namespace } = TestEnv::on_server();
    let folder = config_maps(&namespace);
    let create = |name: &str, team: &str, number: u32| {
        let labels = if team.is_empty() { json!({}) } else { json!({"team": team}) };
        api.create(
            &folder,
            &json!({"metadata": {"name": name, "labels": labels}, "data": {"n": number.to_string()}}),
        );
    };
    create("a", "red", 1);
    create("b", "red", 2);
    create("c", "", 4);
    let words =
        ["index", "cm", "-n", &namespace, "--by", "label:team", "--sum", "data.n", "-o", "json", "-w"];
    let running = env.kdelta_on(testbed, &words).start();
    let mut shown: BTreeMap<String, (u64, i64)> = BTreeMap::new();
    let mut follow = |until: &BTreeMap<String, (u64, i64)>| {
        running.stdout.json_until("the groups of the server", |line| {
            assert_eq!(line["index"], "label:team", "{line}");
            let team = line["value"].as_str().expect("a value").to_owned();
            match line["count"].as_u64().expect("a count") {
                0 => shown.remove(&team),
                count => shown.insert(team, (count, line["sum"]["data.n"].as_i64().unwrap_or_default())),
            };
            shown == *until
        });
    };
    follow(&teams(&api.get(&folder)));
    create("d", "blue", 8);
    api.patch(&format!("{folder}/a"), &json!({"metadata": {"labels": {"team": "blue"}}}));
    api.patch(&format!("{folder}/b"), &json!({"data": {"n": "16"}}));
    api.patch(&format!("{folder}/c"), &json!({"metadata": {"labels": {"team": "green"}}}));
    follow(&teams(&api.get(&folder)));
    api.delete(&format!("{folder}/b"));
    api.patch(&format!("{folder}/c"), &json!({"metadata": {"labels": {"team": null}}}));
    let end = teams(&api.get(&folder));
    assert_eq!(end, BTreeMap::from([("blue".to_owned(), (2, 9))]));
    follow(&end);
}

#[test]
#[cfg_attr(not(has_go), ignore = "needs Go")]
fn results_of_expressions_are_values_of_an_index() {
    const MEMORIES: &str = "cel:object.spec.containers.map(c, c.resources.requests.?memory.orValue('none'))";
    let on = TestEnv::on_server();
    create_pods(&on);
    let OnServer { env, testbed, api, namespace } = on;
    let list = api.get(&format!("/api/v1/namespaces/{namespace}/pods"));
    let pods = list["items"].as_array().expect("items");
    let run = |words: &[&str]| env.kdelta_on(testbed, &[words, &["-n", &namespace]].concat()).finish();

    let table = run(&["index", "pods", "--by", MEMORIES, "--by", "node", "-o", "json"]).quiet_success();
    let table: Value = serde_json::from_str(&table).expect("JSON");
    let mut expected = BTreeMap::new();
    for pod in pods {
        let memory = |each: &Value| each["resources"]["requests"]["memory"].as_str().map(str::to_owned);
        let containers = pod["spec"]["containers"].as_array().expect("containers").iter();
        let memories: BTreeSet<String> =
            containers.map(|each| memory(each).unwrap_or_else(|| "none".to_owned())).collect();
        for value in memories {
            let node = pod["spec"]["nodeName"].as_str().expect("a node").to_owned();
            *expected.entry((value, node)).or_insert(0_u64) += 1;
        }
    }
    let text = |group: &Value, index: &str| group["values"][index].as_str().expect("a value").to_owned();
    let cells = table["cells"].as_array().expect("cells").iter();
    let found = cells.map(|group| {
        ((text(group, MEMORIES), text(group, "node")), group["count"].as_u64().expect("a count"))
    });
    assert_eq!(found.collect::<BTreeMap<_, _>>(), expected);

    let remainders = run(&["index", "pods", "--by", "cel:int(object.metadata.name.split('-')[1]) % 3"]);
    let rows: Vec<Vec<&str>> =
        remainders.stdout.lines().skip(1).map(|line| line.split_whitespace().collect()).collect();
    assert_eq!(rows, [["0", "8"], ["1", "8"], ["2", "8"]], "{}", remainders.stdout);

    let expected = run(&["get", "pods", "-l", "tier=web", "-o", "name"]).quiet_success();
    for words in [&["get"][..], &["watch", "--until-synced"]] {
        let by = "cel:object.metadata.labels.tier == 'web'=true";
        let done = run(&[words, &["pods", "--by", by, "-o", "name"]].concat());
        assert_eq!(done.stdout, expected, "{words:?}");
        let report = "--by cel: 4 objects have no field metadata.labels.tier";
        assert!(done.stderr.contains(report), "{words:?}: {}", done.stderr);
    }
    let absent = run(&["get", "pods", "--by", "!cel:object.metadata.labels.?tier", "-o", "name"]);
    assert_eq!(absent.quiet_success().lines().count(), 4);
}

#[test]
#[cfg_attr(not(has_go), ignore = "needs Go")]
fn live_groups_of_an_expression_follow_changes() {
    let OnServer { env, testbed, api, namespace } = TestEnv::on_server();
    let folder = config_maps(&namespace);
    api.create(&folder, &json!({"metadata": {"name": "a-1"}, "data": {"n": "1"}}));
    api.create(&folder, &json!({"metadata": {"name": "b-1"}}));
    let by = "cel:object.data.n + object.metadata.name.split('-')[0]";
    let running =
        env.kdelta_on(testbed, &["index", "cm", "-n", &namespace, "--by", by, "-o", "json", "-w"]).start();
    let mut shown = BTreeSet::new();
    let mut follow = |until: &[&str]| {
        running.stdout.json_until("the groups", |line| {
            assert_eq!(line["index"], by, "{line}");
            let value = line["value"].as_str().expect("a value").to_owned();
            match line["count"].as_u64().expect("a count") {
                0 => shown.remove(&value),
                _ => shown.insert(value),
            };
            shown.iter().eq(until)
        });
    };
    follow(&["1a"]);
    api.patch(&format!("{folder}/b-1"), &json!({"data": {"n": "2"}}));
    follow(&["1a", "2b"]);
    api.patch(&format!("{folder}/a-1"), &json!({"data": {"n": "3"}}));
    follow(&["2b", "3a"]);
    api.delete(&format!("{folder}/b-1"));
    follow(&["3a"]);
}
