//! Tests of CEL expressions. `tests/cluster/cel` compares expressions with the API server.

use std::time::{Duration, SystemTime};

use super::error::CelError;
use super::eval::{Evaluation, Variables};
use super::filter::{CelFilter, CelInput};
use super::{check, syntax};

const POD: &str = r#"{"metadata":{"name":"web-1","labels":{"app":"web","example.com/tier":"front"},
    "creationTimestamp":"2026-11-25T05:00:00Z","a\"b":1},
    "spec":{"replicas":3,"weight":1.5,"big":18446744073709551615,"none":null,"nodeName":"a",
    "containers":[{"name":"app","image":"nginx:1.27","resources":{"requests":{"cpu":"250m"}}},
    {"name":"side","image":"envoy:1.30"}],"ports":[443,80,8080]}}"#;

/// Returns the result on the pod, at half past five.
fn result(text: &str) -> Result<bool, CelError> {
    let filter = CelFilter::parse(text, true).unwrap_or_else(|error| panic!("{text}: {error}"));
    // 2026-11-25T05:30:00Z
    let now = SystemTime::UNIX_EPOCH + Duration::from_mins(29_926_410);
    filter.evaluate(&CelInput::new(POD.as_bytes(), now).with_old(br#"{"spec":{"replicas":2}}"#))
}

fn all_true(expressions: &[&str]) {
    for text in expressions {
        assert_eq!(result(text), Ok(true), "{text}");
    }
}

#[test]
fn stored_values_have_their_types() {
    all_true(&[
        "object.metadata.name == 'web-1'",
        "object.spec.replicas == 3 && object.spec.replicas == 3.0 && object.spec.replicas == 3u",
        "object.spec.weight == 1.5 && type(object.spec.weight) == double",
        "type(object.spec.big) == double && object.spec.none == null",
        "object['metadata']['labels']['example.com/tier'] == 'front'",
        "object.metadata['a\"b'] == 1",
        "object.spec.containers[1].name == 'side' && size(object.spec.containers) == 2",
        "object.spec.ports == [443, 80, 8080] && 80 in object.spec.ports",
        "'app' in object.metadata.labels && !('x' in object.metadata.labels)",
        "object.spec.replicas > old.spec.replicas",
        "now - timestamp(object.metadata.creationTimestamp) == duration('30m')",
        "object.spec.ports != [443, 80] && object.metadata.labels == {'example.com/tier': 'front', 'app': 'web'}",
        "type(object.spec) == map && type(object.spec.ports) == list && type(now) == google.protobuf.Timestamp",
    ]);
}

#[test]
fn missing_fields_are_errors_that_logic_hides() {
    let no_field = |name: &str| Err(CelError::NoField(name.to_owned()));
    assert_eq!(result("object.spec.foo == 1"), no_field("spec.foo"));
    assert_eq!(result("object.spec.foo.bar == 1"), no_field("spec.foo"));
    assert_eq!(result("object.metadata.labels['a/b'] == 'x'"), no_field("metadata.labels[\"a/b\"]"));
    assert_eq!(result("old.status == 1"), no_field("old.status"));
    assert_eq!(result("object.spec.ports[3] == 1"), Err(CelError::NoElement("spec.ports[3]".to_owned())));
    assert_eq!(result("object.spec.containers.all(c, c.resources.x)"), no_field("x"));
    assert_eq!(result("object.spec.foo && false"), Ok(false));
    assert_eq!(result("false && object.spec.foo"), Ok(false));
    assert_eq!(result("object.spec.foo == 1 || true"), Ok(true));
    assert_eq!(result("object.spec.foo && true"), no_field("spec.foo"));
    assert_eq!(result("object.spec.containers.exists(c, c.resources.requests.cpu == '250m')"), Ok(true));
    assert_eq!(result("object.spec.containers.all(c, c.resources.requests.cpu == '1')"), Ok(false));
    assert_eq!(result("has(object.spec.foo) || has(object.spec.containers)"), Ok(true));
    assert_eq!(result("has(object.spec.replicas.foo)"), Ok(false));
    assert_eq!(result("has(object.spec.foo.bar)"), no_field("spec.foo"));
    assert_eq!(result("has(object.spec.ports.x)"), Err(CelError::NoOverload("a field")));
    assert_eq!(result("object.metadata.name"), Err(CelError::NotBoolean));
    assert_eq!(result("object.spec.?foo.?bar.orValue(5) == 5 && !object.?x.hasValue()"), Ok(true));
    assert_eq!(
        result("object.spec.ports[?9].orValue(1) == 1 && object.spec.ports[?0].value() == 443"),
        Ok(true)
    );
}

#[test]
fn operators_are_checked() {
    assert_eq!(result("object.spec.replicas + 9223372036854775807 > 0"), Err(CelError::Overflow));
    assert_eq!(result("object.spec.replicas / 0 == 1"), Err(CelError::DivisionByZero));
    assert_eq!(result("object.spec.replicas + object.spec.weight > 1.0"), Err(CelError::NoOverload("+")));
    assert_eq!(result("object.spec.nodeName < 3"), Err(CelError::NoOverload("<")));
    assert_eq!(result("object.spec.nodeName == 3"), Ok(false));
    assert_eq!(result("0u - 1u == 0u"), Err(CelError::Overflow));
    all_true(&[
        "7 / -2 == -3 && -7 % 2 == -1 && 7.0 / 2.0 == 3.5",
        "'a' + 'b' == 'ab' && b'a' + b'b' == b'ab' && [1] + [2] == [1, 2]",
        "1 < 2.5 && 2u > 1 && -1 < 0u && 1.0 <= 1",
        "(object.spec.replicas > 2 ? 'many' : 'few') == 'many'",
        "!false && -(-3) == 3 && --3 == 3",
        "[dyn(1), dyn('a')][1] == 'a' && {'a': 1}['a'] == 1 && {1: 'x'}[dyn(1.0)] == 'x'",
    ]);
}

#[test]
fn macros_fold() {
    all_true(&[
        "object.spec.ports.filter(p, p > 100).map(p, p * 2) == [886, 16160]",
        "object.spec.ports.map(p, p < 100, string(p)) == ['80']",
        "object.spec.ports.exists_one(p, p == 80) && [1, 2].existsOne(x, x > 1)",
        "object.metadata.labels.all(k, k.size() > 2) && object.metadata.labels.exists(k, v, k == 'app' && v == 'web')",
        "[5, 6].all(i, v, v == i + 5) && [5, 6].transformList(i, v, i > 0, v) == [6]",
        "[5, 6].transformMap(i, v, v * 2) == {0: 10, 1: 12}",
        "{'a': 1}.transformMapEntry(k, v, {k + k: v}) == {'aa': 1}",
        "object.spec.containers.sortBy(c, c.image).map(c, c.name) == ['side', 'app']",
        "[1, 2].all(x, [3, 4].all(y, y > x)) && [].all(x, false) && ![].exists(x, true)",
        "optional.of(2).optMap(x, x + 1).value() == 3 && !optional.none().optFlatMap(x, optional.of(x)).hasValue()",
        "[?optional.of(1), ?optional.none()] == [1] && {?'a': optional.none()} == {}",
    ]);
    assert_eq!(
        result("object.spec.containers.map(c, c.resources) == []"),
        Err(CelError::NoField("resources".into()))
    );
}

#[test]
fn standard_functions_convert() {
    all_true(&[
        "int('-5') == -5 && int(2.9) == 2 && uint('7') == 7u && double('1e3') == 1000.0 && bool('True')",
        "string(1.5) == '1.5' && string(1000000.0) == '1e+06' && string(b'x') == 'x' && string(true) == 'true'",
        "string(duration('90m')) == '5400s' && string(timestamp(0)) == '1970-01-01T00:00:00Z'",
        "timestamp('2024-05-06T07:08:09.5+02:00').getHours() == 5 && now.getFullYear() == 2026",
        "now.getMonth() == 10 && now.getDate() == 25 && now.getDayOfMonth() == 24 && now.getDayOfWeek() == 3",
        "now.getHours('+02:30') == 8 && now.getMinutes('-00:15') == 15 && duration('90m').getMinutes() == 90",
        "int(timestamp('1970-01-01T00:01:00Z')) == 60 && timestamp('2026-11-25T05:30:00Z') == now",
        "size('ü') == 1 && bytes('ü').size() == 2 && {'a': 1}.size() == 1",
        "type(1) == int && type(type(1)) == type && type(null) == null_type && type(ip('::1')) == net.IP",
    ]);
    for text in [
        "int('x' + '') == 1",
        "int(1e30 * 1.0) == 1",
        "uint(0 - 1) == 1u",
        "timestamp(string(1)) == now",
        "bool('yes' + '')",
    ] {
        assert!(result(text).is_err(), "{text}");
    }
}

#[test]
fn string_functions_count_characters() {
    all_true(&[
        "'tacocat'.charAt(3) == 'o' && 'ab'.charAt(2) == ''",
        "'hello mellow'.indexOf('ello') == 1 && 'hello mellow'.indexOf('ello', 2) == 7 && 'üa'.indexOf('a') == 1",
        "'hello mellow'.lastIndexOf('ello') == 7 && 'hello mellow'.lastIndexOf('ello', 6) == 1 && 'a'.indexOf('aa') == -1",
        "'TacoCat'.lowerAscii() == 'tacocat' && 'ü'.upperAscii() == 'ü' && '  x '.trim() == 'x'",
        "'hello'.replace('l', 'L') == 'heLLo' && 'hello'.replace('l', 'L', 1) == 'heLlo' && 'ab'.replace('', '-') == '-a-b-'",
        "'a,b,c'.split(',') == ['a', 'b', 'c'] && 'a,b,c'.split(',', 2) == ['a', 'b,c'] && 'ab'.split('') == ['a', 'b']",
        "''.split(',') == [''] && 'a'.split(',', 0) == [] && ['a', 'b'].join('-') == 'a-b'",
        "'tacocat'.substring(4) == 'cat' && 'tacocat'.substring(0, 4) == 'taco'",
        "strings.quote('a\"b') == '\"a\\\\\"b\"' && 'x'.startsWith('') && 'abc'.endsWith('bc') && 'abc'.contains('b')",
        "'%s is %d, %.1f, %x %b'.format(['a', 5, 2.25, 255, 5]) == 'a is 5, 2.2, ff 101'",
        "'%s'.format([['a', 1, 2.0]]) == '[\"a\", 1, 2.000000]' && '%%'.format([]) == '%'",
        "'abc123'.matches('^[a-z]+[0-9]+$') && 'abc'.find('b.') == 'bc' && 'a1b2'.findAll('[0-9]') == ['1', '2']",
        "'a1b2'.findAll('[0-9]', 1) == ['1'] && 'x'.find('y') == '' && matches('abc', 'b')",
    ]);
    for text in [
        "'a'.charAt(2) == ''",
        "'a'.substring(2) == ''",
        "'%d'.format(['a'] + []) == ''",
        "'a'.matches('(' + '')",
    ] {
        assert!(result(text).is_err(), "{text}");
    }
}

#[test]
fn list_functions_fold() {
    all_true(&[
        "[1, 2, 2].isSorted() && ![2, 1].isSorted() && ['a', 'b'].isSorted()",
        "object.spec.ports.sum() == 8603 && [1.5, 2.0].sum() == 3.5 && [duration('1s'), duration('2s')].sum() == duration('3s')",
        "object.spec.ports.max() == 8080 && object.spec.ports.min() == 80 && object.spec.ports.sort() == [80, 443, 8080]",
        "[1, 2, 1].indexOf(1) == 0 && [1, 2, 1].lastIndexOf(1) == 2 && [1].indexOf(5) == -1",
        "[dyn(1), dyn([dyn(2), dyn([3])])].flatten() == [dyn(1), dyn(2), dyn([3])] && [[dyn(1), dyn([2])]].flatten(2) == [1, 2]",
        "[1, 1, 2].distinct() == [1, 2] && [1, 2].reverse() == [2, 1] && lists.range(3) == [0, 1, 2]",
        "[1, 2, 3].slice(1, 3) == [2, 3] && [1, 2].first().value() == 1 && [].last() == optional.none()",
        "sets.contains([1, 2], [2]) && sets.equivalent([1, 2], [2, 1, 1]) && !sets.intersects([1], [2])",
    ]);
    for text in ["[].min() == 1", "[1, 2].slice(1, 3) == []", "[3, 'a', 1].map(x, dyn(x)).sort() == []"] {
        assert!(CelFilter::parse(text, false).is_err() || result(text).is_err(), "{text}");
    }
}

#[test]
fn kubernetes_functions_follow_the_server() {
    all_true(&[
        "quantity('1Gi').isGreaterThan(quantity('1G')) && quantity('1').compareTo(quantity('1000m')) == 0",
        "quantity('50k').asInteger() == 50000 && quantity('50k').isInteger() && !quantity('1500m').isInteger()",
        "quantity('1Mi').add(quantity('1Mi')) == quantity('2Mi') && quantity('5').sub(7).asInteger() == -2",
        "sign(quantity('-1')) == -1 && quantity('250m').asApproximateFloat() == 0.25 && !isQuantity('x')",
        "quantity(object.spec.containers[0].resources.requests.cpu) == quantity('0.25')",
        "ip('10.0.0.1').family() == 4 && ip('::1').isLoopback() && isIP('1.2.3.4') && !isIP('1.2.3') && !isIP('::ffff:1.2.3.4')",
        "cidr('10.0.0.0/8').containsIP('10.1.2.3') && cidr('10.0.0.0/8').containsCIDR('10.1.0.0/16')",
        "cidr('10.1.2.3/8').masked() == cidr('10.0.0.0/8') && cidr('::/0').prefixLength() == 0 && cidr('::/0').ip() == ip('::')",
        "ip.isCanonical('::1') && !ip.isCanonical('0:0::1') && string(cidr('10.0.0.0/8')) == '10.0.0.0/8'",
        "url('https://u@example.com:80/a b?q=1&q=2#f').getHost() == 'example.com:80'",
        "url('https://example.com:80/a b?q=1').getEscapedPath() == '/a%20b' && url('https://[::1]:8/').getHostname() == '::1'",
        "url('https://x/?q=1&q=2').getQuery() == {'q': ['1', '2']} && url('HTTPS://x').getScheme() == 'https'",
        "isURL('/path') && !isURL('path') && !isURL('http://a:b/') && isURL('mailto:x')",
        "semver('1.2.3').isLessThan(semver('1.10.0')) && semver('v1.2', true).minor() == 2 && !isSemver('1.2')",
        "semver('1.0.0-alpha.1').isLessThan(semver('1.0.0')) && semver('1.0.0+a') == semver('1.0.0+b')",
        "!format.dns1123Label().validate('web-1').hasValue() && format.dns1123Label().validate('Web').hasValue()",
        "format.named('uuid').hasValue() && !format.named('x').hasValue()",
        "!format.datetime().validate('2021-01-01T00:00:00Z').hasValue() && format.byte().validate('a').hasValue()",
    ]);
    for text in [
        "quantity('x') == quantity('1')",
        "ip('x') == ip('::')",
        "url('x') == url('/')",
        "semver('1') == semver('1.0.0')",
    ] {
        assert!(result(text).is_err(), "{text}");
    }
}

/// Returns the steps of an evaluation, and whether the limit ended it.
fn cost(text: &str, object: &str) -> (u64, bool) {
    let expr = syntax::parse(text).unwrap_or_else(|problem| panic!("{text}: {problem:?}"));
    let program = check::check(&expr, check::Purpose::Filter { has_old: false })
        .unwrap_or_else(|problem| panic!("{text}: {problem:?}"));
    let variables = Variables { object: object.as_bytes(), old: None, now: 0 };
    let (result, _, budget) = Evaluation::new(&program, variables).boolean();
    (budget.taken(), result == Err(CelError::TooManySteps))
}

#[test]
fn hostile_expressions_end_at_the_limit() {
    let numbers: Vec<String> = (0..2000).map(|number| number.to_string()).collect();
    let object =
        format!(r#"{{"l":[{}],"t":"{}","m":{{"a":[{0}]}}}}"#, numbers.join(","), "x".repeat(100_000));
    for text in [
        "object.l.all(a, object.l.all(b, object.l.all(c, a + b + c >= 0)))",
        "object.l.map(a, object.l.map(b, object.t + object.t)).size() > 0",
        "object.l.map(a, object.l).flatten().flatten().size() > 0",
        "object.l.all(a, object.t.matches('(x*)*y' + string(a)) || true)",
        "object.l.all(a, object.t.matches('((x{0,50}){0,50})y') || true)",
        "object.l.all(a, object.m == {'a': object.l})",
        "lists.range(9223372036854775807).size() > 0",
        "object.l.all(a, [object].all(b, b.m.size() == 1 && b.missing || true))",
        "object.l.all(a, object.t.replace('x', object.t) == '')",
        "object.l.all(a, object.t.indexOf('xxxxxxxxxxxxxxxxxxxxxxxxxxy') == -1)",
    ] {
        let (steps, is_ended) = cost(text, &object);
        assert!(is_ended && steps <= 1_000_000, "{text}: {steps}");
    }
    let (steps, is_ended) = cost("object.l.filter(a, a % 2 == 0).size() == 1000", &object);
    assert!(!is_ended && steps < 20_000, "{steps}");
    assert_eq!(cost("object.m.a[1] == 1", &object), cost("object.m.a[1] == 1", &object));
}

#[test]
fn deep_values_and_expressions_fit_the_stack() {
    let nested = |open: &str, inside: &str, close: &str, depth: usize| {
        open.repeat(depth) + inside + &close.repeat(depth)
    };
    let deep = format!("{{\"a\":{}}}", nested("[", "", "]", 100_000));
    for text in ["object.a == object.a", "'%s'.format([object.a]) == ''", "object.a.flatten(1000000) == []"] {
        assert!(cost(text, &deep).1, "{text}");
    }
    for (text, expected) in [
        ("1".to_owned() + &" + 1".repeat(95) + " == 96", true),
        (nested("[", "1", "]", 40) + " == " + &nested("[", "1", "]", 40), true),
        (nested("(1 + ", "1", ")", 40) + " == 41", true),
        (nested("[[1]].map(x, ", "[1]", ")", 40) + ".size() == 1", true),
        (nested("[1].all(x, ", "true", ")", 40), true),
        (nested("(true ? ", "false", " : true)", 40), false),
    ] {
        assert_eq!(result(&text), Ok(expected), "{text:.40}");
    }
}

#[test]
fn a_path_is_read_once() {
    let object = r#"{"a":{"b":1}}"#;
    let (once, _) = cost("object.a.b == 1", object);
    let (many, _) = cost("object.a.b == 1 && object.a.b == 1 && object.a.b == 1", object);
    assert!(many < 3 * once + 4, "{once} {many}");
}

#[test]
fn paths_are_reported() {
    let filter = |text: &str| CelFilter::parse(text, true).expect(text);
    let paths =
        |text: &str| -> Vec<String> { filter(text).paths().iter().map(|path| path.join("/")).collect() };
    assert_eq!(paths("object.metadata.name == 'x' && has(object.spec.a.b)"), ["metadata/name", "spec/a/b"]);
    assert_eq!(
        paths("object.spec.containers[0].name == object.metadata.labels['a/b']"),
        ["metadata/labels/a/b", "spec/containers"]
    );
    assert_eq!(paths("object.status.conditions.exists(c, c.type == 'Ready')"), ["status/conditions"]);
    assert_eq!(paths("object == old"), [""]);
    assert_eq!(paths("old.spec.x == 1"), Vec::<String>::new());
    assert!(filter("old.spec.x == 1").uses_old() && !filter("true").uses_old());
    assert!(filter("now > timestamp(0)").uses_now() && !filter("true").uses_now());
}

#[test]
fn invalid_objects_are_errors() {
    let filter = CelFilter::parse("object.spec.replicas > 2", false).expect("an expression");
    for json in ["", "{", "[1]", "{\"spec\":", "{\"spec\":{\"replicas\":tru}}", "null"] {
        let input = CelInput::new(json.as_bytes(), SystemTime::UNIX_EPOCH);
        assert!(filter.evaluate(&input).is_err(), "{json}");
    }
}
