//! Credential plugins that prompt on a real terminal, and the end of a cancelled one.

use serde_json::json;

use crate::support::{Kdelta, OnServer, Plugin, TestEnv, config_maps, eventually};

/// The prompt of the plugin: it requests a word and accepts only the right one.
const PROMPT: &str = "echo 'Which word?' >&2\nread -r word\n[ \"$word\" = sesame ] || exit 5\n";

fn call(on: &OnServer, mode: &str, words: &[&str]) -> (Plugin, Kdelta) {
    let plugin = Plugin::new(&on.env, "v1", &json!({"token": on.testbed.token("reader")}));
    let mut user = plugin.user("v1");
    user["exec"]["interactiveMode"] = json!(mode);
    let config = on.env.login(on.testbed, on.testbed.server(), &user);
    let call = on.env.kdelta(words).env("KUBECONFIG", config).at_a_terminal();
    (plugin, call)
}

#[test]
#[cfg_attr(not(all(has_go, has_script)), ignore = "needs Go and script")]
fn plugin_prompts_on_the_terminal_before_rows() {
    let on = TestEnv::on_server();
    for mode in ["Always", "IfAvailable"] {
        let (plugin, call) = call(&on, mode, &["get", "ns", "default", "-o", "name"]);
        on.env.file("ending", PROMPT);
        let mut running = call.start();
        running.stdout.find("the question", |line| line == "Which word?\r\n");
        running.type_line("sesame");
        running.stdout.find("the response of the server", |line| line == "namespace/default\r\n");
        assert_eq!(
            (running.wait(), plugin.last_input()["spec"]["interactive"].as_bool()),
            (0, Some(true)),
            "{mode}"
        );
    }
}

#[test]
#[cfg_attr(not(all(has_go, has_script)), ignore = "needs Go and script")]
fn wrong_input_fails_with_the_plugins_exit_code() {
    let on = TestEnv::on_server();
    let (plugin, call) = call(&on, "Always", &["get", "ns"]);
    on.env.file("ending", PROMPT);
    let mut running = call.start();
    running.stdout.find("the question", |line| line == "Which word?\r\n");
    running.type_line("open");
    let failed = "exec: executable sh failed with exit code 5\r\n";
    running.stdout.find("the failure", |line| line.ends_with(failed));
    assert_eq!((running.wait(), plugin.runs()), (1, 1));
}

#[test]
#[cfg_attr(not(all(has_go, has_script)), ignore = "needs Go and script")]
fn watch_of_several_parts_prompts_once() {
    let on = TestEnv::on_server();
    on.api.create(&config_maps(&on.namespace), &json!({"metadata": {"name": "one"}}));
    let words = ["watch", "cm,secrets,sa", "-n", &on.namespace, "-o", "name"];
    let (plugin, call) = call(&on, "Always", &words);
    on.env.file("ending", PROMPT);
    let mut running = call.start();
    running.stdout.find("the question", |line| line == "Which word?\r\n");
    running.type_line("sesame");
    running.stdout.find("the initial state", |line| line == "configmap/one\r\n");
    assert_eq!(plugin.runs(), 1);
}

#[test]
#[cfg_attr(not(all(has_go, has_script)), ignore = "needs Go and script")]
fn plugin_may_open_the_terminal_itself() {
    let on = TestEnv::on_server();
    let (_plugin, call) = call(&on, "Never", &["get", "ns", "default", "-o", "name"]);
    on.env.file("ending", &PROMPT.replace("read -r word", "read -r word < /dev/tty"));
    let mut running = call.start();
    running.stdout.find("the question", |line| line == "Which word?\r\n");
    running.type_line("sesame");
    running.stdout.find("the response of the server", |line| line == "namespace/default\r\n");
    assert_eq!(running.wait(), 0);
}

#[test]
#[cfg_attr(not(has_go), ignore = "needs Go")]
fn signal_ends_a_plugin_and_its_children_without_a_terminal() {
    let on = TestEnv::on_server();
    let plugin = Plugin::new(&on.env, "v1", &json!({"token": on.testbed.token("reader")}));
    on.env.file("ending", "sleep 600 & echo $! > child.new && mv child.new child\nwait\n");
    let config = on.env.login(on.testbed, on.testbed.server(), &plugin.user("v1"));
    for words in [&["get", "ns"][..], &["watch", "ns"]] {
        let own = on.env.kdelta(words).env("KUBECONFIG", &config).into_command();
        // A session of its own has no controlling terminal, wherever the tests run.
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
#[cfg_attr(not(has_go), ignore = "needs Go")]
fn first_signal_lets_a_plugin_clean_up_and_the_second_kills_it() {
    let on = TestEnv::on_server();
    let plugin = Plugin::new(&on.env, "v1", &json!({"token": on.testbed.token("reader")}));
    let config = on.env.login(on.testbed, on.testbed.server(), &plugin.user("v1"));
    let (started, cache) = (on.env.home().join("begun"), on.env.home().join("cache"));
    // The script waits and saves with shell builtins: on a slow machine starting a program takes long.
    on.env.file("ending", "trap 'kill $!; echo kept > cache; exit' TERM\nsleep 60 &\n: > begun\nwait\n");
    for words in [&["get", "ns"][..], &["watch", "ns"]] {
        let mut running = on.env.kdelta(words).env("KUBECONFIG", &config).start();
        eventually("the plugin runs", || started.exists().then_some(()));
        running.signal("TERM");
        assert_eq!(running.wait(), 143, "{words:?}");
        assert!(cache.exists(), "{words:?}");
        assert!(!running.stderr.drain().contains("exec:"), "what was ended is no failure");
        for file in [&started, &cache] {
            std::fs::remove_file(file).expect("a file of the test");
        }
    }
    on.env.file("ending", "trap ': > terminated' TERM\nsleep 60 &\n: > begun\nwhile :; do wait; done\n");
    let mut running = on.env.kdelta(&["get", "ns"]).env("KUBECONFIG", &config).start();
    eventually("the plugin runs", || started.exists().then_some(()));
    running.signal("TERM");
    eventually("the plugin gets SIGTERM", || on.env.home().join("terminated").exists().then_some(()));
    running.signal("TERM");
    assert_eq!(running.wait(), 143);
}
