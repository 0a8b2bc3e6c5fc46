//! The cluster lives as one would.

use jiff::Timestamp;

use super::*;
use crate::demo::cluster::Clock;
use crate::demo::fixtures;
use crate::demo::store::Store;
use stages::Stage;

fn life(seed: u64) -> Life {
    let clock = Clock::new(Timestamp::UNIX_EPOCH);
    let cluster = Arc::new(Cluster::new(Store::new(seed, 1), clock, String::new()));
    fixtures::fill(&cluster, seed, 0);
    Life::new(cluster, fastrand::Rng::with_seed(seed.wrapping_add(1)), 1.0)
}

fn live(life: &mut Life, seconds: u64) {
    let to = life.now + Duration::from_secs(seconds);
    assert!(life.advance(to, 1_000_000));
}

/// Every change since then, as text.
fn history(life: &Life, since: u64) -> Vec<String> {
    let (changes, _) = life.cluster.store.all_changes(since, usize::MAX / 2).expect("in the log");
    changes.iter().map(|change| format!("{} {:?}", change.deleted, change.new.json)).collect()
}

#[tokio::test(start_paused = true)]
async fn equal_seeds_give_equal_lives() {
    let run = |seed| {
        let mut life = life(seed);
        let start = life.cluster.store.version();
        live(&mut life, 60);
        history(&life, start)
    };
    let first = run(7);
    assert!(first.len() > 100, "{}", first.len());
    assert_eq!(first, run(7));
    assert_ne!(first, run(8));
}

#[tokio::test(start_paused = true)]
async fn every_second_a_pod_of_default_changes() {
    for seed in 0..3 {
        let mut life = life(seed);
        for second in 0..120 {
            let before = life.cluster.store.version();
            live(&mut life, 1);
            let (changes, _) = life.cluster.store.changes(kinds::PODS, before, 100_000).expect("in the log");
            let visible = changes.iter().filter(|change| *change.new.namespace == *"default").count();
            assert!(visible > 0, "seed {seed}, second {second}");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn default_keeps_twenty_pods_and_what_is_kept_is_bounded() {
    let mut life = life(3);
    for _ in 0..30 {
        live(&mut life, 60);
        let pods = life.cluster.store.now(&Part::all(kinds::PODS, None)).items.len();
        assert!((20..120).contains(&pods), "{pods} pods");
    }
    let count = |kind| life.cluster.store.now(&Part::all(kind, None)).items.len();
    assert!(count(kinds::PODS) < 120 && count(kinds::EVENTS) <= EVENTS && count(kinds::REPLICA_SETS) < 60);
    assert!(count(kinds::JOBS) < 20, "{} jobs", count(kinds::JOBS));
    assert!(life.agenda.next().is_some());
}

#[tokio::test(start_paused = true)]
async fn pods_go_through_all_their_stages() {
    let mut life = life(1);
    let start = life.cluster.store.version();
    live(&mut life, 120);
    let (changes, _) = life.cluster.store.changes(kinds::PODS, start, 100_000).expect("in the log");
    let seen: Vec<Stage> = changes.iter().map(|change| Stage::of(&change.new.value())).collect();
    for stage in [
        Stage::Unscheduled,
        Stage::Scheduled,
        Stage::Creating,
        Stage::Starting,
        Stage::Ready,
        Stage::Crashed,
        Stage::BackingOff,
        Stage::Going,
        Stage::Over,
    ] {
        assert!(seen.contains(&stage), "{stage:?}");
    }
}

/// The ready pods of an application, and all of its pods.
fn pods(life: &Life, app: &str) -> (usize, usize) {
    let pods = life.cluster.store.now(&Part::all(kinds::PODS, Some("default"))).items;
    let own: Vec<_> =
        pods.iter().map(|pod| pod.value()).filter(|pod| pod["metadata"]["labels"]["app"] == app).collect();
    (own.iter().filter(|pod| Stage::of(pod) == Stage::Ready).count(), own.len())
}

/// Lives without disturbances.
fn undisturbed(seed: u64) -> Life {
    let mut life = life(seed);
    let place = |name: &str| -> Place { ("default".into(), name.into()) };
    let timed = [Work::CronJob(place("cleanup")), Work::Autoscaler(place("api"))];
    for work in [Work::Disturb, Work::Pulse, Work::Extra, Work::LoseNode].into_iter().chain(timed) {
        life.agenda.cancel(&work);
    }
    life
}

#[tokio::test(start_paused = true)]
async fn a_scaled_deployment_gets_its_pods_and_loses_them_again() {
    let mut life = undisturbed(1);
    let place: Place = ("default".into(), "web".into());
    for replicas in [7, 1, 0, 3] {
        life.edit(kinds::DEPLOYMENTS, &place, |deployment| deployment["spec"]["replicas"] = replicas.into());
        live(&mut life, 10);
        assert_eq!(pods(&life, "web"), (replicas, replicas));
        let deployment = life.value(kinds::DEPLOYMENTS, &place).expect("there");
        assert_eq!(deployment["status"]["readyReplicas"], replicas);
    }
}

#[tokio::test(start_paused = true)]
async fn a_deployment_rolls_without_losing_a_ready_pod() {
    let mut life = undisturbed(2);
    let place: Place = ("default".into(), "api".into());
    life.edit(kinds::DEPLOYMENTS, &place, |deployment| {
        deployment["spec"]["template"]["spec"]["containers"][0]["image"] = "new:1".into();
    });
    for _ in 0..60 {
        live(&mut life, 1);
        let (ready, all) = pods(&life, "api");
        assert!(ready >= 4 && all <= 7, "{ready} of {all}");
    }
    assert_eq!(pods(&life, "api"), (4, 4));
    let deployment = life.value(kinds::DEPLOYMENTS, &place).expect("there");
    assert_eq!(
        (&deployment["status"]["updatedReplicas"], &deployment["status"]["replicas"]),
        (&json!(4), &json!(4))
    );
    let all = life.cluster.store.now(&Part::all(kinds::PODS, Some("default"))).items;
    let images = all.iter().map(|pod| pod.value()["spec"]["containers"][0]["image"].clone());
    assert_eq!(images.filter(|image| image == "new:1").count(), 4);
}

#[tokio::test(start_paused = true)]
async fn what_a_deleted_owner_leaves_goes_too() {
    let mut life = undisturbed(4);
    life.delete(kinds::DEPLOYMENTS, &("default".into(), "cart".into()));
    live(&mut life, 5);
    assert_eq!(pods(&life, "cart"), (0, 0));
    let sets = life.cluster.store.now(&Part::all(kinds::REPLICA_SETS, Some("default"))).items;
    assert!(!sets.iter().any(|set| set.name.starts_with("cart-")));
}

#[tokio::test(start_paused = true)]
async fn a_deleted_pod_is_replaced_and_a_job_completes_and_expires() {
    let mut life = undisturbed(5);
    let pod = life.ready_pod("default").expect("a pod");
    life.delete(kinds::PODS, &pod);
    life.start_job();
    live(&mut life, 1);
    assert_eq!(life.cluster.store.now(&Part::all(kinds::JOBS, None)).items.len(), 1);
    live(&mut life, 60);
    assert!(life.value(kinds::PODS, &pod).is_none());
    let running = life.cluster.store.now(&Part::all(kinds::PODS, Some("default"))).items.len();
    assert_eq!(running, 25, "as at the start, and those of the StatefulSet");
    live(&mut life, 60);
    assert_eq!(life.cluster.store.now(&Part::all(kinds::JOBS, None)).items.len(), 0);
}

#[tokio::test(start_paused = true)]
async fn a_deleted_namespace_takes_its_content_along() {
    let mut life = undisturbed(6);
    life.delete(kinds::NAMESPACES, &("".into(), "shop".into()));
    live(&mut life, 5);
    assert!(life.value(kinds::NAMESPACES, &("".into(), "shop".into())).is_none());
    for (id, _) in life.cluster.store.kinds() {
        assert_eq!(life.cluster.store.now(&Part::all(id, Some("shop"))).items.len(), 0);
    }
}

#[tokio::test(start_paused = true)]
async fn a_life_that_lost_the_log_looks_at_everything() {
    let mut life = undisturbed(7);
    let place: Place = ("default".into(), "web".into());
    life.edit(kinds::DEPLOYMENTS, &place, |deployment| deployment["spec"]["replicas"] = 6.into());
    life.cluster.store.compact();
    live(&mut life, 10);
    assert_eq!(pods(&life, "web"), (6, 6));
}

#[tokio::test(start_paused = true)]
async fn a_stateful_set_has_its_pods_one_after_the_other() {
    let mut life = undisturbed(8);
    let place: Place = ("default".into(), "orders-db".into());
    let names = |life: &Life| -> Vec<String> {
        let pods = life.cluster.store.now(&Part::all(kinds::PODS, Some("default"))).items;
        pods.iter().filter(|pod| pod.name.starts_with("orders-db-")).map(|pod| pod.name.to_string()).collect()
    };
    live(&mut life, 1);
    assert_eq!(names(&life), ["orders-db-0"]);
    live(&mut life, 40);
    assert_eq!(names(&life), ["orders-db-0", "orders-db-1"]);
    let claim =
        life.value(kinds::VOLUME_CLAIMS, &("default".into(), "data-orders-db-1".into())).expect("a claim");
    assert_eq!(claim["status"]["phase"], "Bound");
    let set = life.value(kinds::STATEFUL_SETS, &place).expect("there");
    assert_eq!((&set["status"]["readyReplicas"], &set["status"]["updatedReplicas"]), (&json!(2), &json!(2)));
    life.edit(kinds::STATEFUL_SETS, &place, |set| set["spec"]["replicas"] = 1.into());
    live(&mut life, 10);
    assert_eq!(names(&life), ["orders-db-0"]);
    life.edit(kinds::STATEFUL_SETS, &place, |set| {
        set["spec"]["template"]["spec"]["containers"][0]["image"] = "new:1".into();
    });
    live(&mut life, 40);
    let pod = life.value(kinds::PODS, &("default".into(), "orders-db-0".into())).expect("there again");
    assert_eq!(pod["spec"]["containers"][0]["image"], "new:1");
}

#[tokio::test(start_paused = true)]
async fn a_daemon_set_has_a_pod_on_every_node() {
    let mut life = undisturbed(9);
    live(&mut life, 30);
    let nodes = life.cluster.store.now(&Part::all(kinds::NODES, None)).items.len();
    let set = life.value(kinds::DAEMON_SETS, &("kube-system".into(), "node-agent".into())).expect("there");
    assert_eq!(
        (&set["status"]["numberReady"], &set["status"]["desiredNumberScheduled"]),
        (&json!(nodes), &json!(nodes))
    );
    life.cluster.store.remove(kinds::NODES, "", "worker-2");
    live(&mut life, 30);
    let set = life.value(kinds::DAEMON_SETS, &("kube-system".into(), "node-agent".into())).expect("there");
    assert_eq!(set["status"]["currentNumberScheduled"], nodes - 1);
}

#[tokio::test(start_paused = true)]
async fn a_cron_job_makes_a_job_each_minute_and_keeps_the_last_few() {
    let mut life = life(10);
    live(&mut life, 600);
    let jobs = life.cluster.store.now(&Part::all(kinds::JOBS, Some("default"))).items;
    let own = jobs.iter().filter(|job| job.name.starts_with("cleanup-")).count();
    assert!((1..=5).contains(&own), "{own}");
    let cron_job = life.value(kinds::CRON_JOBS, &("default".into(), "cleanup".into())).expect("there");
    assert!(cron_job["status"]["lastSuccessfulTime"].is_string(), "{cron_job}");
}

#[tokio::test(start_paused = true)]
async fn a_silent_node_loses_its_pods_and_comes_back() {
    let mut life = undisturbed(11);
    live(&mut life, 30);
    life.lose_node();
    let silent = |life: &Life| -> Vec<String> {
        let nodes = life.cluster.store.now(&Part::all(kinds::NODES, None)).items;
        nodes
            .iter()
            .filter(|node| !nodes::is_ready(&node.value()))
            .map(|node| node.name.to_string())
            .collect()
    };
    let [name] = silent(&life).try_into().expect("one");
    life.agenda.cancel(&Work::LoseNode);
    live(&mut life, 15);
    let pods = life.cluster.store.now(&Part::all(kinds::PODS, Some("default"))).items;
    assert!(pods.iter().all(|pod| pod.value()["spec"]["nodeName"] != *name), "all went elsewhere");
    live(&mut life, 30);
    assert_eq!(silent(&life), [""; 0]);
    assert_eq!(pods_ready(&life), 25);
}

fn pods_ready(life: &Life) -> usize {
    let pods = life.cluster.store.now(&Part::all(kinds::PODS, Some("default"))).items;
    pods.iter().filter(|pod| Stage::of(&pod.value()) == Stage::Ready).count()
}

#[tokio::test(start_paused = true)]
async fn services_know_their_pods_and_budgets_what_may_go() {
    let mut life = undisturbed(12);
    live(&mut life, 2);
    let place: Place = ("default".into(), "web".into());
    let endpoints = life.value(kinds::ENDPOINTS, &place).expect("endpoints");
    assert_eq!(endpoints["subsets"][0]["addresses"].as_array().map(Vec::len), Some(4));
    let slices = life.cluster.store.now(&Part::all(kinds::ENDPOINT_SLICES, Some("default"))).items;
    assert!(
        slices.iter().any(|slice| slice.value()["metadata"]["labels"]["kubernetes.io/service-name"] == "web")
    );
    let budget = life.value(kinds::DISRUPTION_BUDGETS, &place).expect("a budget");
    assert_eq!(
        (&budget["status"]["currentHealthy"], &budget["status"]["disruptionsAllowed"]),
        (&json!(4), &json!(2))
    );
    life.cluster.store.remove(kinds::SERVICES, "default", "web");
    live(&mut life, 2);
    assert!(life.value(kinds::ENDPOINTS, &place).is_none());
    let slices = life.cluster.store.now(&Part::all(kinds::ENDPOINT_SLICES, Some("default"))).items;
    assert!(slices.iter().all(|slice| !slice.name.starts_with("web-")));
}

#[tokio::test(start_paused = true)]
async fn an_autoscaler_stays_within_its_bounds() {
    let mut life = undisturbed(13);
    let place: Place = ("default".into(), "api".into());
    for _ in 0..20 {
        life.autoscaler(&place);
        live(&mut life, 1);
        let replicas = life.value(kinds::DEPLOYMENTS, &place).expect("there")["spec"]["replicas"].as_u64();
        assert!(replicas.is_some_and(|replicas| (4..=6).contains(&replicas)), "{replicas:?}");
    }
    let scaler = life.value(kinds::AUTOSCALERS, &place).expect("there");
    assert!(scaler["status"]["currentMetrics"][0]["resource"]["current"]["averageUtilization"].is_u64());
}

#[tokio::test(start_paused = true)]
async fn a_template_that_comes_back_is_a_new_revision() {
    let mut life = undisturbed(14);
    let place: Place = ("default".into(), "mailer".into());
    let set_image = |life: &Life, image: &str| {
        life.edit(kinds::DEPLOYMENTS, &place, |deployment| {
            deployment["spec"]["template"]["spec"]["containers"][0]["image"] = image.into();
        });
    };
    let before = life.value(kinds::DEPLOYMENTS, &place).expect("there");
    let image =
        before["spec"]["template"]["spec"]["containers"][0]["image"].as_str().expect("an image").to_owned();
    for (image, revision) in [("new:1", "2"), (image.as_str(), "3")] {
        set_image(&life, image);
        live(&mut life, 40);
        let deployment = life.value(kinds::DEPLOYMENTS, &place).expect("there");
        assert_eq!(deployment["metadata"]["annotations"]["deployment.kubernetes.io/revision"], revision);
        let conditions = deployment["status"]["conditions"].as_array().expect("conditions");
        assert!(conditions.iter().any(|one| one["reason"] == "NewReplicaSetAvailable"), "{conditions:?}");
    }
}
