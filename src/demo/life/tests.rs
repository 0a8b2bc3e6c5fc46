//! The cluster lives as one would.

use jiff::Timestamp;

use super::*;
use crate::demo::cluster::Clock;
use crate::demo::fixtures;
use crate::demo::store::Store;
use stages::Stage;

fn life(seed: u64) -> Life {
    let clock = Clock::new(Timestamp::UNIX_EPOCH);
    let cluster = Arc::new(Cluster { store: Store::new(seed), clock, address: String::new() });
    fixtures::fill(&cluster, seed, 0);
    Life::new(cluster, seed, 1.0)
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
    for work in [Work::Disturb, Work::Pulse, Work::Extra] {
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
    assert_eq!(running, 23, "as at the start");
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
