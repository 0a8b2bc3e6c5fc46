//! `--metrics` without a real cluster: each command that watches serves them, and a wrong address ends it at once.

use std::io::Write;
use std::net::{TcpListener, TcpStream};
use std::process::{Command, Stdio};

use crate::support::{DemoServer, Scraper, TestEnv};

#[test]
fn each_watching_command_serves_metrics() {
    let env = TestEnv::new();
    for (words, resource) in [
        (&["watch", "pods"][..], "pods"),
        (&["get", "pods", "-w"], "pods"),
        (&["index", "pods", "--by", "node", "-w"], "pods"),
        (&["tree", "deploy/web", "-w"], "deployments"),
        (&["events", "-w"], "events"),
    ] {
        let words = [words, &["--demo", "--metrics", "0"]].concat();
        let mut running = env.kdelta(&words).start();
        let scraper = Scraper::of(&running);
        scraper.await_status("/readyz", 200);
        assert_eq!(scraper.get("/healthz"), (200, "ok\n".to_owned()), "{words:?}");
        let labels = [("context", "demo"), ("resource", resource)];
        assert!(scraper.value("kdelta_deltas_total", &labels).is_some(), "{words:?}: {}", scraper.text());
        running.signal("TERM");
        assert_eq!(running.wait(), 143, "{words:?}");
        assert!(TcpStream::connect(&scraper.address).is_err(), "{words:?}: it still listens");
    }
}

#[test]
fn metrics_of_one_shot_commands_and_malformed_addresses_are_usage_errors() {
    let env = TestEnv::new();
    for (words, expected) in [
        (&["get", "pods", "--metrics", "0"][..], "error: --metrics needs --watch or --watch-only\n"),
        (
            &["index", "pods", "--by", "node", "--metrics", "0"],
            "error: --metrics needs --watch or --watch-only\n",
        ),
        (
            &["watch", "pods", "--metrics", "http://x:1"],
            "error: --metrics needs a PORT, HOST:PORT or [IPv6]:PORT, not \"http://x:1\"\n",
        ),
    ] {
        assert_eq!(env.kdelta(words).finish().failure(2), expected);
    }
    // A default is ignored where nothing is watched.
    env.kdelta(&["get", "pods", "--demo"]).env("KDELTA_METRICS", "0").finish().quiet_success();
}

#[test]
fn used_address_ends_the_command_before_it_watches() {
    let env = TestEnv::new();
    let taken = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = taken.local_addr().expect("an address").to_string();
    let port = address.rsplit_once(':').expect("a port").1;
    let expected = format!("error: can't serve metrics on {address}: address already in use\n");
    // No server is there; the address is checked first.
    for value in [port, &address] {
        let words = ["watch", "pods", "-s", "http://127.0.0.1:1", "--metrics", value];
        assert_eq!(env.kdelta(&words).finish().failure(1), expected);
    }
}

#[test]
fn command_is_not_ready_before_its_initial_state() {
    let env = TestEnv::new();
    // The kernel accepts the connections, and no program responds.
    let silent = TcpListener::bind("127.0.0.1:0").expect("a port");
    let server = format!("http://{}", silent.local_addr().expect("an address"));
    let running = env.kdelta(&["watch", "pods", "-s", &server, "--metrics", "0"]).start();
    let scraper = Scraper::of(&running);
    let (code, text) = scraper.get("/readyz");
    assert_eq!((code, text.as_str()), (503, "not ready\nthe initial state is incomplete\n"));
    assert_eq!(scraper.get("/healthz").0, 200);
}

#[test]
#[cfg_attr(not(has_promtool), ignore = "needs promtool, of the package prometheus")]
fn promtool_accepts_the_metrics() {
    let env = TestEnv::new();
    let demo = DemoServer::start(&env, &["--speed", "0.01"]);
    let running = env.kdelta(&["watch", "pods,deploy", "-A", "-s", &demo.url, "--metrics", "0"]).start();
    let scraper = Scraper::of(&running);
    scraper.await_status("/readyz", 200);
    // The failures are among the metrics.
    drop(demo);
    running.stderr.find("the loss", |line| line.contains("lost"));
    let text = scraper.text();
    assert!(text.contains("kdelta_failures_total{"), "{text}");
    let mut promtool = Command::new("promtool");
    promtool.args(["check", "metrics"]).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut promtool = promtool.spawn().expect("promtool");
    promtool.stdin.take().expect("a pipe").write_all(text.as_bytes()).expect("it reads");
    let checked = promtool.wait_with_output().expect("it ends");
    let said = [checked.stdout, checked.stderr].concat();
    assert!(checked.status.success() && said.is_empty(), "{}", String::from_utf8_lossy(&said));
}
