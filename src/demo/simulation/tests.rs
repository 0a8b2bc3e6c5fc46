//! Tests of the simulation as a whole.

use jiff::Timestamp;

use super::*;
use crate::demo::fixtures;
use crate::demo::objects::pod_stages::Stage;
use crate::demo::store::Store;
use crate::server::clock::Clock;

fn simulation(seed: u64) -> Simulation {
    let clock = Clock::new(Timestamp::UNIX_EPOCH);
    let cluster = Arc::new(Cluster::new(Store::new(seed, 1), clock));
    fixtures::fill(&cluster, seed, 0);
    Simulation::new(cluster, fastrand::Rng::with_seed(seed.wrapping_add(1)), 1.0)
}

fn run_for(simulation: &mut Simulation, seconds: u64) {
    let to = simulation.now + Duration::from_secs(seconds);
    assert!(simulation.advance(to, 1_000_000));
}

/// Returns every change since then as text.
fn history(simulation: &Simulation, since: u64) -> Vec<String> {
    let (changes, _) = simulation.cluster.store.all_changes(since, usize::MAX / 2).expect("in the log");
    changes.iter().map(|change| format!("{} {:?}", change.deleted, change.new.json)).collect()
}

#[tokio::test(start_paused = true)]
async fn equal_seeds_give_equal_histories() {
    let run = |seed| {
        let mut simulation = simulation(seed);
        let start = simulation.cluster.store.version();
        run_for(&mut simulation, 60);
        history(&simulation, start)
    };
    let first = run(7);
    assert!(first.len() > 100, "{}", first.len());
    assert_eq!(first, run(7));
    assert_ne!(first, run(8));
}

#[tokio::test(start_paused = true)]
async fn a_pod_of_default_changes_every_second() {
    for seed in 0..3 {
        let mut simulation = simulation(seed);
        for second in 0..120 {
            let before = simulation.cluster.store.version();
            run_for(&mut simulation, 1);
            let (changes, _) =
                simulation.cluster.store.changes(kinds::PODS, before, 100_000).expect("in the log");
            let visible = changes.iter().filter(|change| *change.new.namespace == *"default").count();
            assert!(visible > 0, "seed {seed}, second {second}");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn default_keeps_twenty_pods_and_history_is_bounded() {
    let mut simulation = simulation(3);
    for _ in 0..18 {
        run_for(&mut simulation, 60);
        let pods = simulation.cluster.store.now(&CollectionRange::all(kinds::PODS, None)).items.len();
        assert!((20..120).contains(&pods), "{pods} pods");
    }
    let count = |kind| simulation.cluster.store.now(&CollectionRange::all(kind, None)).items.len();
    assert!(
        count(kinds::PODS) < 120 && count(kinds::EVENTS) <= MAX_EVENTS && count(kinds::REPLICA_SETS) < 60
    );
    assert!(count(kinds::JOBS) < 20, "{} jobs", count(kinds::JOBS));
    assert!(simulation.tasks.next().is_some());
}

#[tokio::test(start_paused = true)]
async fn pods_go_through_all_their_stages() {
    let mut simulation = simulation(1);
    let start = simulation.cluster.store.version();
    run_for(&mut simulation, 120);
    let (changes, _) = simulation.cluster.store.changes(kinds::PODS, start, 100_000).expect("in the log");
    let seen: Vec<Stage> = changes.iter().map(|change| Stage::of(&change.new.value())).collect();
    for stage in [
        Stage::Unscheduled,
        Stage::Scheduled,
        Stage::Creating,
        Stage::Starting,
        Stage::Ready,
        Stage::Crashed,
        Stage::BackingOff,
        Stage::Terminating,
        Stage::Finished,
    ] {
        assert!(seen.contains(&stage), "{stage:?}");
    }
}

/// Returns the number of ready pods of an application, and of all its pods.
fn pods(simulation: &Simulation, app: &str) -> (usize, usize) {
    let pods = simulation.cluster.store.now(&CollectionRange::all(kinds::PODS, Some("default"))).items;
    let own: Vec<_> =
        pods.iter().map(|pod| pod.value()).filter(|pod| pod["metadata"]["labels"]["app"] == app).collect();
    (own.iter().filter(|pod| Stage::of(pod) == Stage::Ready).count(), own.len())
}

/// Creates a simulation without disruptions.
fn undisrupted(seed: u64) -> Simulation {
    let mut simulation = simulation(seed);
    let object_key = |name: &str| -> ObjectKey { ("default".into(), name.into()) };
    let timed = [Task::CronJob(object_key("cleanup")), Task::Autoscaler(object_key("api"))];
    for task in [Task::Disrupt, Task::EnsureActivity, Task::Extra, Task::LoseNode].into_iter().chain(timed) {
        simulation.tasks.cancel(&task);
    }
    simulation
}

#[tokio::test(start_paused = true)]
async fn a_deployment_scales_up_and_down() {
    let mut simulation = undisrupted(1);
    let key: ObjectKey = ("default".into(), "web".into());
    for replicas in [7, 1, 0, 3] {
        simulation
            .edit(kinds::DEPLOYMENTS, &key, |deployment| deployment["spec"]["replicas"] = replicas.into());
        run_for(&mut simulation, 10);
        assert_eq!(pods(&simulation, "web"), (replicas, replicas));
        let deployment = simulation.value(kinds::DEPLOYMENTS, &key).expect("it exists");
        assert_eq!(deployment["status"]["readyReplicas"], replicas);
    }
}

#[tokio::test(start_paused = true)]
async fn a_deployment_rolls_without_losing_a_ready_pod() {
    let mut simulation = undisrupted(2);
    let key: ObjectKey = ("default".into(), "api".into());
    simulation.edit(kinds::DEPLOYMENTS, &key, |deployment| {
        deployment["spec"]["template"]["spec"]["containers"][0]["image"] = "new:1".into();
    });
    for _ in 0..60 {
        run_for(&mut simulation, 1);
        let (ready, all) = pods(&simulation, "api");
        assert!(ready >= 4 && all <= 7, "{ready} of {all}");
    }
    assert_eq!(pods(&simulation, "api"), (4, 4));
    let deployment = simulation.value(kinds::DEPLOYMENTS, &key).expect("it exists");
    assert_eq!(
        (&deployment["status"]["updatedReplicas"], &deployment["status"]["replicas"]),
        (&json!(4), &json!(4))
    );
    let all = simulation.cluster.store.now(&CollectionRange::all(kinds::PODS, Some("default"))).items;
    let images = all.iter().map(|pod| pod.value()["spec"]["containers"][0]["image"].clone());
    assert_eq!(images.filter(|image| image == "new:1").count(), 4);
}

#[tokio::test(start_paused = true)]
async fn dependents_of_a_deleted_owner_are_deleted() {
    let mut simulation = undisrupted(4);
    simulation.delete(kinds::DEPLOYMENTS, &("default".into(), "cart".into()));
    run_for(&mut simulation, 5);
    assert_eq!(pods(&simulation, "cart"), (0, 0));
    let sets =
        simulation.cluster.store.now(&CollectionRange::all(kinds::REPLICA_SETS, Some("default"))).items;
    assert!(!sets.iter().any(|set| set.name.starts_with("cart-")));
}

#[tokio::test(start_paused = true)]
async fn a_deleted_pod_is_replaced_and_a_job_completes_and_expires() {
    let mut simulation = undisrupted(5);
    let pod = simulation.ready_pod("default").expect("a pod");
    simulation.delete(kinds::PODS, &pod);
    simulation.start_job();
    run_for(&mut simulation, 1);
    assert_eq!(simulation.cluster.store.now(&CollectionRange::all(kinds::JOBS, None)).items.len(), 1);
    run_for(&mut simulation, 60);
    assert!(simulation.value(kinds::PODS, &pod).is_none());
    let running =
        simulation.cluster.store.now(&CollectionRange::all(kinds::PODS, Some("default"))).items.len();
    assert_eq!(running, 25, "as at the start, and those of the StatefulSet");
    run_for(&mut simulation, 60);
    assert_eq!(simulation.cluster.store.now(&CollectionRange::all(kinds::JOBS, None)).items.len(), 0);
}

#[tokio::test(start_paused = true)]
async fn a_deleted_namespace_deletes_its_content() {
    let mut simulation = undisrupted(6);
    simulation.delete(kinds::NAMESPACES, &("".into(), "shop".into()));
    run_for(&mut simulation, 5);
    assert!(simulation.value(kinds::NAMESPACES, &("".into(), "shop".into())).is_none());
    for (id, _) in simulation.cluster.store.kinds() {
        assert_eq!(simulation.cluster.store.now(&CollectionRange::all(id, Some("shop"))).items.len(), 0);
    }
}

#[tokio::test(start_paused = true)]
async fn simulation_observes_every_object_after_compaction() {
    let mut simulation = undisrupted(7);
    let key: ObjectKey = ("default".into(), "web".into());
    simulation.edit(kinds::DEPLOYMENTS, &key, |deployment| deployment["spec"]["replicas"] = 6.into());
    simulation.cluster.store.compact();
    run_for(&mut simulation, 10);
    assert_eq!(pods(&simulation, "web"), (6, 6));
}

#[tokio::test(start_paused = true)]
async fn a_stateful_set_starts_its_pods_in_order() {
    let mut simulation = undisrupted(8);
    let key: ObjectKey = ("default".into(), "orders-db".into());
    let names = |simulation: &Simulation| -> Vec<String> {
        let pods = simulation.cluster.store.now(&CollectionRange::all(kinds::PODS, Some("default"))).items;
        pods.iter().filter(|pod| pod.name.starts_with("orders-db-")).map(|pod| pod.name.to_string()).collect()
    };
    run_for(&mut simulation, 1);
    assert_eq!(names(&simulation), ["orders-db-0"]);
    run_for(&mut simulation, 40);
    assert_eq!(names(&simulation), ["orders-db-0", "orders-db-1"]);
    let claim = simulation
        .value(kinds::VOLUME_CLAIMS, &("default".into(), "data-orders-db-1".into()))
        .expect("a claim");
    assert_eq!(claim["status"]["phase"], "Bound");
    let set = simulation.value(kinds::STATEFUL_SETS, &key).expect("it exists");
    assert_eq!((&set["status"]["readyReplicas"], &set["status"]["updatedReplicas"]), (&json!(2), &json!(2)));
    simulation.edit(kinds::STATEFUL_SETS, &key, |set| set["spec"]["replicas"] = 1.into());
    run_for(&mut simulation, 10);
    assert_eq!(names(&simulation), ["orders-db-0"]);
    simulation.edit(kinds::STATEFUL_SETS, &key, |set| {
        set["spec"]["template"]["spec"]["containers"][0]["image"] = "new:1".into();
    });
    run_for(&mut simulation, 40);
    let pod = simulation.value(kinds::PODS, &("default".into(), "orders-db-0".into())).expect("recreated");
    assert_eq!(pod["spec"]["containers"][0]["image"], "new:1");
}

#[tokio::test(start_paused = true)]
async fn a_daemon_set_has_a_pod_on_every_node() {
    let mut simulation = undisrupted(9);
    run_for(&mut simulation, 30);
    let nodes = simulation.cluster.store.now(&CollectionRange::all(kinds::NODES, None)).items.len();
    let set = simulation
        .value(kinds::DAEMON_SETS, &("kube-system".into(), "node-agent".into()))
        .expect("it exists");
    assert_eq!(
        (&set["status"]["numberReady"], &set["status"]["desiredNumberScheduled"]),
        (&json!(nodes), &json!(nodes))
    );
    simulation.cluster.store.remove(kinds::NODES, "", "worker-2");
    run_for(&mut simulation, 30);
    let set = simulation
        .value(kinds::DAEMON_SETS, &("kube-system".into(), "node-agent".into()))
        .expect("it exists");
    assert_eq!(set["status"]["currentNumberScheduled"], nodes - 1);
}

#[tokio::test(start_paused = true)]
async fn a_cron_job_creates_a_job_each_minute_and_keeps_the_last_few() {
    let mut simulation = simulation(10);
    run_for(&mut simulation, 420);
    let jobs = simulation.cluster.store.now(&CollectionRange::all(kinds::JOBS, Some("default"))).items;
    let own = jobs.iter().filter(|job| job.name.starts_with("cleanup-")).count();
    assert!((1..=5).contains(&own), "{own}");
    let cron_job =
        simulation.value(kinds::CRON_JOBS, &("default".into(), "cleanup".into())).expect("it exists");
    assert!(cron_job["status"]["lastSuccessfulTime"].is_string(), "{cron_job}");
}

#[tokio::test(start_paused = true)]
async fn an_unreachable_node_loses_its_pods_and_recovers() {
    let mut simulation = undisrupted(11);
    run_for(&mut simulation, 30);
    simulation.lose_node();
    let unreachable_nodes = |simulation: &Simulation| -> Vec<String> {
        let nodes = simulation.cluster.store.now(&CollectionRange::all(kinds::NODES, None)).items;
        nodes
            .iter()
            .filter(|node| !nodes::is_ready(&node.value()))
            .map(|node| node.name.to_string())
            .collect()
    };
    let [name] = unreachable_nodes(&simulation).try_into().expect("one");
    simulation.tasks.cancel(&Task::LoseNode);
    run_for(&mut simulation, 15);
    let pods = simulation.cluster.store.now(&CollectionRange::all(kinds::PODS, Some("default"))).items;
    assert!(pods.iter().all(|pod| pod.value()["spec"]["nodeName"] != *name), "all went elsewhere");
    run_for(&mut simulation, 30);
    assert_eq!(unreachable_nodes(&simulation), [""; 0]);
    assert_eq!(pods_ready(&simulation), 25);
}

fn pods_ready(simulation: &Simulation) -> usize {
    let pods = simulation.cluster.store.now(&CollectionRange::all(kinds::PODS, Some("default"))).items;
    pods.iter().filter(|pod| Stage::of(&pod.value()) == Stage::Ready).count()
}

#[tokio::test(start_paused = true)]
async fn services_have_endpoints_and_budgets_allow_disruptions() {
    let mut simulation = undisrupted(12);
    run_for(&mut simulation, 2);
    let key: ObjectKey = ("default".into(), "web".into());
    let endpoints = simulation.value(kinds::ENDPOINTS, &key).expect("endpoints");
    assert_eq!(endpoints["subsets"][0]["addresses"].as_array().map(Vec::len), Some(4));
    let slices =
        simulation.cluster.store.now(&CollectionRange::all(kinds::ENDPOINT_SLICES, Some("default"))).items;
    assert!(
        slices.iter().any(|slice| slice.value()["metadata"]["labels"]["kubernetes.io/service-name"] == "web")
    );
    let budget = simulation.value(kinds::DISRUPTION_BUDGETS, &key).expect("a budget");
    assert_eq!(
        (&budget["status"]["currentHealthy"], &budget["status"]["disruptionsAllowed"]),
        (&json!(4), &json!(2))
    );
    simulation.cluster.store.remove(kinds::SERVICES, "default", "web");
    run_for(&mut simulation, 2);
    assert!(simulation.value(kinds::ENDPOINTS, &key).is_none());
    let slices =
        simulation.cluster.store.now(&CollectionRange::all(kinds::ENDPOINT_SLICES, Some("default"))).items;
    assert!(slices.iter().all(|slice| !slice.name.starts_with("web-")));
}

#[tokio::test(start_paused = true)]
async fn an_autoscaler_stays_within_its_bounds() {
    let mut simulation = undisrupted(13);
    let key: ObjectKey = ("default".into(), "api".into());
    for _ in 0..20 {
        simulation.reconcile_autoscaler(&key);
        run_for(&mut simulation, 1);
        let replicas =
            simulation.value(kinds::DEPLOYMENTS, &key).expect("it exists")["spec"]["replicas"].as_u64();
        assert!(replicas.is_some_and(|replicas| (4..=6).contains(&replicas)), "{replicas:?}");
    }
    let scaler = simulation.value(kinds::AUTOSCALERS, &key).expect("it exists");
    assert!(scaler["status"]["currentMetrics"][0]["resource"]["current"]["averageUtilization"].is_u64());
}

#[tokio::test(start_paused = true)]
async fn reverted_template_becomes_a_new_revision() {
    let mut simulation = undisrupted(14);
    let key: ObjectKey = ("default".into(), "mailer".into());
    let set_image = |simulation: &Simulation, image: &str| {
        simulation.edit(kinds::DEPLOYMENTS, &key, |deployment| {
            deployment["spec"]["template"]["spec"]["containers"][0]["image"] = image.into();
        });
    };
    let before = simulation.value(kinds::DEPLOYMENTS, &key).expect("it exists");
    let image =
        before["spec"]["template"]["spec"]["containers"][0]["image"].as_str().expect("an image").to_owned();
    for (image, revision) in [("new:1", "2"), (image.as_str(), "3")] {
        set_image(&simulation, image);
        run_for(&mut simulation, 40);
        let deployment = simulation.value(kinds::DEPLOYMENTS, &key).expect("it exists");
        assert_eq!(deployment["metadata"]["annotations"]["deployment.kubernetes.io/revision"], revision);
        let conditions = deployment["status"]["conditions"].as_array().expect("conditions");
        assert!(conditions.iter().any(|one| one["reason"] == "NewReplicaSetAvailable"), "{conditions:?}");
    }
}
