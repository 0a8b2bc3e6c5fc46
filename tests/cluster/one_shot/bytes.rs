//! The bytes at the socket of questions about many pods, in parts of those of the whole list.

use crate::support::{Proxy, TestEnv, Testbed};

/// Fails the test unless rows take at most a twentieth of the bytes of the whole list, metadata at most 30 %, and rows with
/// metadata at most a third. Both sides are compressed by the server.
pub(super) fn questions_take_few_bytes(env: &TestEnv, testbed: &Testbed) {
    let proxy = Proxy::before(testbed.port());
    let config = env.kubeconfig(testbed, "admin", "load-0", proxy.port());
    let bytes = |words: &str| {
        let words: Vec<&str> = words.split(' ').collect();
        let before = proxy.received();
        let done = env.kdelta(&words).env("KUBECONFIG", &config).finish();
        assert!(done.code == 0 && !done.stdout.is_empty(), "{words:?}: {}", done.stderr);
        proxy.received() - before
    };
    // Discovery is cached from here on.
    bytes("get ns");
    let all = bytes("get pods -A -o json");
    let part = |words: &str| {
        let taken = bytes(words);
        println!("{words}: {taken} of {all} bytes");
        taken
    };
    for question in [
        "get pods",
        "get pods -o name",
        "get pods -A -o name",
        "get pods -A --by label:app=web",
        "get pods -A --by field:status.phase=Pending",
        "get pods -A --by field:status.phase=Pending -o name",
        "get pods -A --where object.status.phase=='Pending'",
        "get pods -A --where object.status.phase=='Pending'&&object.metadata.labels.app=='web' -o name",
    ] {
        assert!(part(question) * 20 <= all, "{question}");
    }
    for question in [
        "get pods -A --by namespace=load-0",
        "index pods -A --by namespace",
        "index pods -A --by label:app",
        "index pods -A --by label:app --by namespace",
        "index pods -A --by owner",
        "get pods -A --by owner -o name",
    ] {
        assert!(part(question) * 10 <= all * 3, "{question}");
    }
    // A row has no namespace, and no labels.
    for question in
        ["get pods -A", "get pods -A --show-labels", "get pods -A --sort-by .metadata.creationTimestamp"]
    {
        assert!(part(question) * 3 <= all, "{question}");
    }
}
