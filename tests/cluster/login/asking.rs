//! Credential plugins that ask their user, at a real terminal, and what becomes of one that is given up.

use serde_json::json;

use crate::support::{Kdelta, OnServer, Plugin, TestEnv, config_maps, eventually};

/// What the plugin does before it says its credentials: it asks for a word, and nothing but the right one will do.
const ASKS: &str = "echo 'Which word?' >&2\nread -r word\n[ \"$word\" = sesame ] || exit 5\n";

fn call(on: &OnServer, mode: &str, words: &[&str]) -> (Plugin, Option<Kdelta>) {
    let plugin = Plugin::new(&on.env, "v1", &json!({"token": on.testbed.token("reader")}));
    let mut user = plugin.user("v1");
    user["exec"]["interactiveMode"] = json!(mode);
    let config = on.env.login(on.testbed, on.testbed.server(), &user);
    let call = on.env.kdelta(words).env("KUBECONFIG", config).at_a_terminal();
    (plugin, call)
}

#[test]
fn a_plugin_asks_at_the_terminal_and_rows_follow_the_answer() {
    let Some(on) = TestEnv::on_server() else { return };
    for mode in ["Always", "IfAvailable"] {
        let (plugin, call) = call(&on, mode, &["get", "ns", "default", "-o", "name"]);
        let Some(call) = call else { return };
        on.env.file("ending", ASKS);
        let mut running = call.start();
        running.stdout.find("the question", |line| line == "Which word?\r\n");
        running.type_line("sesame");
        running.stdout.find("the answer of the server", |line| line == "namespace/default\r\n");
        assert_eq!(
            (running.wait(), plugin.told()["spec"]["interactive"].as_bool()),
            (0, Some(true)),
            "{mode}"
        );
    }
}

#[test]
fn a_wrong_answer_ends_it_with_the_plugins_exit_code() {
    let Some(on) = TestEnv::on_server() else { return };
    let (plugin, call) = call(&on, "Always", &["get", "ns"]);
    let Some(call) = call else { return };
    on.env.file("ending", ASKS);
    let mut running = call.start();
    running.stdout.find("the question", |line| line == "Which word?\r\n");
    running.type_line("open");
    let failed = "exec: executable sh failed with exit code 5\r\n";
    running.stdout.find("the failure", |line| line.ends_with(failed));
    assert_eq!((running.wait(), plugin.runs()), (1, 1));
}

#[test]
fn a_watch_follows_the_answer_with_all_its_parts_after_one_question() {
    let Some(on) = TestEnv::on_server() else { return };
    on.api.create(&config_maps(&on.namespace), &json!({"metadata": {"name": "one"}}));
    let words = ["watch", "cm,secrets,sa", "-n", &on.namespace, "-o", "name"];
    let (plugin, call) = call(&on, "Always", &words);
    let Some(call) = call else { return };
    on.env.file("ending", ASKS);
    let mut running = call.start();
    running.stdout.find("the question", |line| line == "Which word?\r\n");
    running.type_line("sesame");
    running.stdout.find("the initial state", |line| line == "configmap/one\r\n");
    assert_eq!(plugin.runs(), 1);
}

#[test]
fn a_plugin_that_asks_at_the_terminal_by_its_own_decision_is_not_stopped_there() {
    let Some(on) = TestEnv::on_server() else { return };
    let (_plugin, call) = call(&on, "Never", &["get", "ns", "default", "-o", "name"]);
    let Some(call) = call else { return };
    on.env.file("ending", &ASKS.replace("read -r word", "read -r word < /dev/tty"));
    let mut running = call.start();
    running.stdout.find("the question", |line| line == "Which word?\r\n");
    running.type_line("sesame");
    running.stdout.find("the answer of the server", |line| line == "namespace/default\r\n");
    assert_eq!(running.wait(), 0);
}

#[test]
fn a_signal_without_a_terminal_ends_a_plugin_and_what_it_has_started() {
    let Some(on) = TestEnv::on_server() else { return };
    let plugin = Plugin::new(&on.env, "v1", &json!({"token": on.testbed.token("reader")}));
    on.env.file("ending", "sleep 600 & echo $! > child.new && mv child.new child\nwait\n");
    let config = on.env.login(on.testbed, on.testbed.server(), &plugin.user("v1"));
    for words in [&["get", "ns"][..], &["watch", "ns"]] {
        let own = on.env.kdelta(words).env("KUBECONFIG", &config).into_command();
        // A session of its own has no terminal, wherever the tests are run.
        let mut command = std::process::Command::new("setsid");
        command.arg(own.get_program()).args(own.get_args()).env_clear();
        command.envs(own.get_envs().filter_map(|(name, value)| Some((name, value?))));
        let mut running = Kdelta::other(command).start();
        let child = on.env.home().join("child");
        let pid = eventually("the plugin has a child", || std::fs::read_to_string(&child).ok());
        running.signal("TERM");
        assert_eq!(running.wait(), 143, "{words:?}");
        eventually("the child is gone", || {
            let state = std::fs::read_to_string(format!("/proc/{}/stat", pid.trim()));
            (!state.is_ok_and(|state| !state.contains(") Z "))).then_some(())
        });
        std::fs::remove_file(child).expect("a file of the test");
    }
}

#[test]
fn a_signal_lets_a_plugin_put_away_what_it_has_and_the_second_does_not() {
    let Some(on) = TestEnv::on_server() else { return };
    let plugin = Plugin::new(&on.env, "v1", &json!({"token": on.testbed.token("reader")}));
    let config = on.env.login(on.testbed, on.testbed.server(), &plugin.user("v1"));
    let (begun, cache) = (on.env.home().join("begun"), on.env.home().join("cache"));
    // It waits, and keeps, in builtins: on a machine that is slow a program takes long to start.
    on.env.file("ending", "trap 'kill $!; echo kept > cache; exit' TERM\nsleep 60 &\n: > begun\nwait\n");
    for words in [&["get", "ns"][..], &["watch", "ns"]] {
        let mut running = on.env.kdelta(words).env("KUBECONFIG", &config).start();
        eventually("the plugin runs", || begun.exists().then_some(()));
        running.signal("TERM");
        assert_eq!(running.wait(), 143, "{words:?}");
        assert!(cache.exists(), "{words:?}");
        assert!(!running.stderr.drain().contains("exec:"), "what was ended is no failure");
        for file in [&begun, &cache] {
            std::fs::remove_file(file).expect("a file of the test");
        }
    }
    on.env.file("ending", "trap ': > asked' TERM\nsleep 60 &\n: > begun\nwhile :; do wait; done\n");
    let mut running = on.env.kdelta(&["get", "ns"]).env("KUBECONFIG", &config).start();
    eventually("the plugin runs", || begun.exists().then_some(()));
    running.signal("TERM");
    eventually("the plugin is asked", || on.env.home().join("asked").exists().then_some(()));
    running.signal("TERM");
    assert_eq!(running.wait(), 143);
}
