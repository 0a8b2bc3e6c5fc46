//! The warnings of a served recording about what was not observed.

use std::time::Duration;

use super::moves::Served;
use super::*;

/// Returns a recording of pods in all namespaces, with a gap from 100 to 200, and of gadgets in the namespace `a`.
fn recorded() -> Recorded {
    let mut recorded = Recorded::new().pod("a/web", 1, None, 1).synced(&pods(), 1, 2);
    let mark = |resource: &Arc<ApiResource>, namespace: &str, kind: MarkKind, seconds: i64| Mark {
        kind,
        resource: Arc::clone(resource),
        context: "c".into(),
        namespace: namespace.into(),
        name: None,
        received: at(seconds),
    };
    let gadget = json!({"metadata": {"name": "g", "namespace": "a", "uid": "u-g", "resourceVersion": "2"}});
    recorded = recorded.change(&gadgets(), &gadget, None, 3);
    let synced = MarkKind::Synced { version: ResourceVersion::new("2") };
    recorded.writer.mark(&mark(&gadgets(), "a", synced, 4)).expect("written");
    let [from, to] = ["1", "3"].map(ResourceVersion::new);
    let gap = MarkKind::Gap { from, to, lasted: Duration::from_secs(100) };
    recorded.writer.mark(&mark(&pods(), "", gap, 200)).expect("written");
    recorded.pod("a/web", 4, None, 300)
}

#[tokio::test(start_paused = true)]
async fn responses_warn_of_what_was_not_observed() {
    let served = Served::from(recorded(), 150, None);
    let in_gap =
        format!("299 - \"pods were not observed from {} to {}: this is the state before\"", at(100), at(200));
    let limit = "299 - \"only the gadgets.example.com in a were recorded\"";
    let gadgets = "/apis/example.com/v1";
    for (path, expected) in [
        ("/api/v1/pods".to_owned(), Some(in_gap.as_str())),
        ("/api/v1/namespaces/a/pods/web".to_owned(), Some(&in_gap)),
        ("/api/v1/namespaces/a/pods/none".to_owned(), Some(&in_gap)),
        (format!("{gadgets}/gadgets"), Some(limit)),
        (format!("{gadgets}/namespaces/b/gadgets"), Some(limit)),
        (format!("{gadgets}/namespaces/a/gadgets"), None),
        ("/api/v1".to_owned(), None),
    ] {
        assert_eq!(served.warning(&path).await.as_deref(), expected, "{path}");
    }
    served.move_to(at(300));
    assert_eq!(served.warning("/api/v1/pods").await, None);
}

/// A command that reads a recording prints the reasons itself.
#[tokio::test(start_paused = true)]
async fn server_inside_the_process_does_not_warn() {
    let (server, _dir) = recorded().serve(Moment::Time(at(150)));
    let state = Arc::clone(&server.state);
    let (id, _) = state.find("", "v1", "pods").expect("pods");
    assert!(state.warnings(id, None).is_empty());
}
