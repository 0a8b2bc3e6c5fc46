//! `-f` and `-k` on the demo: sources, their limits and their errors.

use std::fs::{self, File};
use std::io::{Read, Write};
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::thread;

use crate::support::{Kdelta, TestEnv};

const NAMES: &str = "service/web\ndeployment.apps/web\n";
const SERVICE: &str = "apiVersion: v1\nkind: Service\nmetadata: {name: web}\n";
const DEPLOYMENT: &str = r#"{"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web"}}"#;

/// Writes a file in the working folder.
fn file(env: &TestEnv, name: &str, text: &str) -> PathBuf {
    let path = env.home().join(name);
    fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
    env.file(name, text)
}

/// Returns `kdelta get -o name` on the demo.
fn get(env: &TestEnv, arguments: &[&str]) -> Kdelta {
    env.kdelta(&[&["get", "--demo", "-o", "name"], arguments].concat())
}

#[test]
fn objects_come_from_files_folders_patterns_and_standard_input() {
    let env = TestEnv::new();
    let service = file(&env, "a/1.yaml", SERVICE);
    file(&env, "a/2.json", DEPLOYMENT);
    file(&env, "a/b/3.yml", "kind: Pod\n");
    file(&env, "a/note.txt", "[");
    let found = |arguments: &[&str]| get(&env, arguments).finish().quiet_success();
    assert_eq!(found(&["-f", "a"]), NAMES);
    assert_eq!(found(&["-f", "a/1.yaml,a/2.json"]), NAMES);
    assert_eq!(found(&["-f", "?/[12].*"]), NAMES);
    assert_eq!(found(&["-f", "a", "-R"]), format!("{NAMES}pod/<unknown>\n"));
    assert_eq!(found(&["-f", service.to_str().expect("text"), "-f", "a/2.json"]), NAMES);
    let both = env.file("both.yaml", &format!("{SERVICE}---\n{DEPLOYMENT}\n"));
    let piped = get(&env, &["-f", "-"]).stdin(File::open(both).expect("a file"));
    assert_eq!(piped.finish().quiet_success(), NAMES);
}

#[test]
fn one_file_with_one_object_is_printed_without_a_list() {
    let env = TestEnv::new();
    env.file("one.yaml", SERVICE);
    let kind = |arguments: &[&str]| {
        let arguments = [&["get", "--demo", "-o", "jsonpath={.kind}"], arguments].concat();
        env.kdelta(&arguments).finish().quiet_success()
    };
    assert_eq!(kind(&["-f", "one.yaml"]), "Service");
    assert_eq!(kind(&["-f", "one.yaml", "-f", "one.yaml"]), "List");
}

#[test]
fn watch_follows_several_objects() {
    let env = TestEnv::new();
    env.file("both.yaml", &format!("{SERVICE}---\n{DEPLOYMENT}\n---\n{SERVICE}"));
    let watch = |arguments: &[&str]| {
        let arguments = [&["watch", "--demo", "-o", "name", "--until-synced"], arguments].concat();
        env.kdelta(&arguments).finish()
    };
    let mut names: Vec<String> =
        watch(&["-f", "both.yaml"]).quiet_success().lines().map(str::to_owned).collect();
    names.sort();
    assert_eq!(names, ["deployment.apps/web", "service/web"], "each once");
    assert_eq!(watch(&["-f", "both.yaml", "-l", "no=such"]).quiet_success(), "");
    let error = watch(&["-f", "both.yaml", "-n", "shop,default"]).failure(2);
    assert!(error.starts_with("error: -f and -k take one namespace"), "{error}");
    env.file("unnamed.yaml", "apiVersion: v1\nkind: Pod\n");
    let error = watch(&["-f", "unnamed.yaml"]).failure(1);
    assert!(error.contains("has no name"), "{error}");
    env.file("empty.yaml", "");
    assert_eq!(watch(&["-f", "empty.yaml"]).failure(1), "error: the files name no objects\n");
}

#[test]
fn unusable_files_are_errors() {
    let env = TestEnv::new();
    env.file("one.yaml", SERVICE);
    env.file("broken.yaml", "a: [\n");
    fs::create_dir(env.home().join("none")).expect("a folder");
    let error = |arguments: &[&str], code| get(&env, arguments).finish().failure(code);
    assert_eq!(error(&["-f", "no.yaml"], 1), "error: the path \"no.yaml\" does not exist\n");
    assert_eq!(
        error(&["-f", "no.yaml,*.no"], 1),
        "the path \"no.yaml\" does not exist\nthe path \"*.no\" does not exist\n"
    );
    assert_eq!(
        error(&["-f", "none"], 1),
        "error: error reading [none]: recognized file extensions are [.json .yaml .yml]\n"
    );
    assert!(
        error(&["-f", "broken.yaml"], 1)
            .starts_with("error: error parsing broken.yaml: error converting YAML")
    );
    assert_eq!(error(&["-f", "/dev/zero"], 1), "error: error parsing /dev/zero: it is larger than 64 MiB\n");
    assert!(error(&["-f", "one.yaml", "pods"], 2).starts_with("error: when paths, URLs, or stdin"));
    assert!(error(&["-f", "one.yaml", "-k", "x"], 2).starts_with("error: only one of -f or -k"));
}

/// A document that would be too deep, or too large once its aliases are resolved.
#[test]
fn hostile_documents_end_with_an_error() {
    let env = TestEnv::new();
    let mut bomb = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n".to_owned();
    bomb.extend((1..20).map(|level| {
        let items = vec![format!("*a{}", level - 1); 10].join(", ");
        format!("a{level}: &a{level} [{items}]\n")
    }));
    let deep = format!("{{\"a\": {}", "[".repeat(1_000_000));
    for (text, reason) in [(&bomb, "excessive aliasing"), (&deep, "exceeded max depth")] {
        env.file("hostile.yaml", text);
        let error = get(&env, &["-f", "hostile.yaml"]).finish().failure(1);
        assert!(error.contains(reason), "{error}");
    }
}

/// Serves these responses, one for each connection, and returns the URL of the server and the requests.
fn serve(responses: Vec<String>) -> (String, thread::JoinHandle<Vec<String>>) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let url = format!("http://{}", listener.local_addr().expect("an address"));
    let requests = thread::spawn(move || {
        let serve = |response: String| {
            let (mut stream, _) = listener.accept().expect("a connection");
            let mut request = Vec::new();
            while !request.ends_with(b"\r\n\r\n") {
                let mut byte = [0];
                stream.read_exact(&mut byte).expect("a request");
                request.push(byte[0]);
            }
            stream.write_all(response.as_bytes()).expect("a reader");
            String::from_utf8(request).expect("text")
        };
        responses.into_iter().map(serve).collect()
    });
    (url, requests)
}

#[test]
fn urls_are_requested_without_credentials() {
    let env = TestEnv::new();
    let response = |status: &str, more: &str, body: &str| {
        let length = body.len();
        format!("HTTP/1.1 {status}\r\nConnection: close\r\nContent-Length: {length}\r\n{more}\r\n{body}")
    };
    let (url, requests) = serve(vec![
        response("302 Found", "Location: /other.yaml\r\n", ""),
        response("200 OK", "", SERVICE),
        response("404 Not Found", "", "no"),
    ]);
    let found = get(&env, &["-f", &format!("{url}/x.yaml"), "--token", "s3cr3t"]).finish();
    assert_eq!(found.quiet_success(), "service/web\n");
    let missing = format!("{url}/y.yaml?a=b").replace("http://", "http://me:pass@");
    let error = get(&env, &["-f", &missing]).finish().failure(1);
    let missing = missing.replace("pass", "xxxxx");
    let reported =
        format!("error: unable to read URL {missing:?}, server reported 404 Not Found, status code=404\n");
    assert_eq!(error, reported);
    let requests = requests.join().expect("a server").concat();
    assert_eq!(requests.matches("GET ").count(), 3, "{requests}");
    // The last request has those of its URL.
    let authorized = requests.to_lowercase().matches("authorization: ").count();
    assert!(!requests.contains("s3cr3t") && authorized == 1, "{requests}");
}

/// Creates a program in a folder for `PATH`, which also has the system's programs.
fn program(env: &TestEnv, name: &str, script: &str) -> PathBuf {
    let path = file(env, &format!("bin/{name}"), &format!("#!/bin/sh\n{script}\n"));
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).expect("a program");
    path.parent().expect("a folder").to_owned()
}

#[test]
fn kustomizations_are_built_by_an_installed_program() {
    let env = TestEnv::new();
    let kustomize = |folder: &PathBuf| get(&env, &["-k", "x y"]).env("PATH", folder).finish();
    let nothing = env.home().join("bin");
    fs::create_dir(&nothing).expect("a folder");
    assert_eq!(
        kustomize(&nothing).failure(1),
        "error: -k needs kubectl or kustomize to build the kustomization, and neither of them is on the PATH\n"
    );
    let folder = program(
        &env,
        "kustomize",
        r##"[ "$*" = "build -- x y" ] || exit 9; echo "# Warning: old" >&2; echo 'apiVersion: v1
kind: Service
metadata: {name: web}'"##,
    );
    let built = kustomize(&folder);
    assert_eq!(
        (built.code, built.stdout.as_str(), built.stderr.as_str()),
        (0, "service/web\n", "# Warning: old\n")
    );
    program(&env, "kubectl", "echo 'error: no kustomization in x y' >&2; exit 1");
    assert_eq!(kustomize(&folder).failure(1), "error: no kustomization in x y\n", "kubectl is preferred");
    program(&env, "kubectl", "exec /usr/bin/yes");
    assert_eq!(kustomize(&folder).failure(1), "error: it is larger than 64 MiB\n");
    let relative = get(&env, &["-k", "x y"]).env("PATH", "bin").finish().failure(1);
    assert!(relative.contains("neither of them is on the PATH"), "{relative}");
}
