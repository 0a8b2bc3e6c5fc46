//! Compiled expressions whose results are texts.

use std::fmt;
use std::time::SystemTime;

use super::error::{CelError, CelSyntaxError};
use super::eval::Evaluation;
use super::filter::CelInput;
use super::functions::Overload;
use super::plan::Program;
use super::{check, syntax};

/// A compiled CEL expression whose results are the values of an object in an index.
///
/// The only variable is `object`: the values of an object change only with it. Functions, macros and limits are those of
/// [`CelFilter`](super::CelFilter).
///
/// ```
/// # use kdelta::query::CelValues;
/// let values = CelValues::parse("object.spec.containers.map(c, c.image.split(':')[0])")?;
/// let mut images = Vec::new();
/// let pod = br#"{"spec":{"containers":[{"image":"nginx:1.27"},{"image":"envoy"}]}}"#;
/// assert_eq!(values.visit(pod, &mut |image| images.push(image.to_owned())), Ok(()));
/// assert_eq!(images, ["nginx", "envoy"]);
/// # Ok::<(), kdelta::query::CelSyntaxError>(())
/// ```
pub struct CelValues {
    program: Program,
    text: String,
    /// The functions that make a text of a value.
    overloads: Vec<Overload>,
}

impl CelValues {
    /// Compiles an expression.
    ///
    /// # Errors
    /// The first problem, with its position.
    pub fn parse(text: &str) -> Result<Self, CelSyntaxError> {
        let program = syntax::parse(text).and_then(|expr| check::check(&expr, check::Purpose::Values));
        let program = program.map_err(|problem| problem.in_text(text))?;
        Ok(Self { program, text: text.to_owned(), overloads: check::text_overloads() })
    }

    /// Splits `EXPRESSION=VALUE` at the first `=` that is no part of an operator and stands outside of quotes, brackets and
    /// comments, which is never a part of an expression. Without one, there is no value.
    #[must_use]
    pub fn split(text: &str) -> (&str, Option<&str>) {
        match syntax::lone_equals_sign(text) {
            Some(at) => (&text[..at], Some(&text[at + 1..])),
            None => (text, None),
        }
    }

    /// Visits the values of an object, given as JSON: the result as `string` converts it, or each element of a list. Null
    /// and absent optional values are left out. Without a result, nothing is visited.
    ///
    /// # Errors
    /// The expression has no result, or one that has no text, such as a map.
    pub fn visit(&self, object: &[u8], visit: &mut dyn FnMut(&str)) -> Result<(), CelError> {
        // The expression does not read the time.
        let variables = CelInput::new(object, SystemTime::UNIX_EPOCH).variables;
        let texts = Evaluation::new(&self.program, variables).texts(&self.overloads)?;
        for text in &texts {
            visit(text);
        }
        Ok(())
    }

    /// Returns the values of the object that the expression reads, as [`CelFilter::paths`](super::CelFilter::paths).
    #[must_use]
    pub fn paths(&self) -> Vec<Vec<&str>> {
        self.program.object_paths()
    }
}

/// Shows the expression.
impl fmt::Debug for CelValues {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("CelValues").field(&self.text).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const POD: &[u8] =
        br#"{"metadata":{"name":"web-1","labels":{"app":"web"}},"spec":{"replicas":3,"weight":1.5,
        "on":true,"none":null,"names":["a",null,"b","a"],"mixed":["a",{"b":1}],"secret":{"deep":[[1]]}}}"#;

    fn values(text: &str) -> Result<Vec<String>, CelError> {
        let values = CelValues::parse(text).unwrap_or_else(|error| panic!("{text}: {error}"));
        let mut found = Vec::new();
        values.visit(POD, &mut |value| found.push(value.to_owned()))?;
        Ok(found)
    }

    #[test]
    fn results_are_texts_as_string_converts_them() {
        for (text, expected) in [
            ("object.metadata.name.split('-')[0]", &["web"][..]),
            ("object.spec.replicas", &["3"]),
            ("object.spec.replicas + 1", &["4"]),
            ("object.spec.weight", &["1.5"]),
            ("object.spec.replicas > 2", &["true"]),
            ("timestamp('2026-11-25T05:00:00Z')", &["2026-11-25T05:00:00Z"]),
            ("duration('90m')", &["5400s"]),
            ("b'abc'", &["abc"]),
            ("ip('10.0.0.1')", &["10.0.0.1"]),
            ("object.spec.names", &["a", "b", "a"]),
            ("object.spec.names.filter(n, n != null).map(n, n + '!')", &["a!", "b!", "a!"]),
            ("[object.spec.replicas, object.spec.weight]", &["3", "1.5"]),
            ("object.spec.none", &[]),
            ("null", &[]),
            ("[]", &[]),
            ("object.metadata.labels.?app", &["web"]),
            ("object.metadata.labels.?tier", &[]),
            ("[object.metadata.labels.?tier, object.metadata.labels.?app]", &["web"]),
            ("object.metadata.labels.map(key, key)", &["app"]),
        ] {
            let expected = expected.iter().map(|value| (*value).to_owned()).collect();
            assert_eq!(values(text), Ok(expected), "{text}");
        }
    }

    #[test]
    fn objects_without_a_text_are_errors_and_visit_nothing() {
        for (text, error) in [
            ("object.spec.foo", CelError::NoField("spec.foo".into())),
            ("object.spec", CelError::NoText("map")),
            ("object.spec.mixed", CelError::NoText("map")),
            ("object.spec.secret.deep", CelError::NoText("list")),
            ("object.spec.names.map(n, n + '!')", CelError::NoOverload("+")),
        ] {
            let mut visited = 0;
            let values = CelValues::parse(text).expect(text);
            assert_eq!(values.visit(POD, &mut |_| visited += 1), Err(error), "{text}");
            assert_eq!(visited, 0, "{text}");
        }
    }

    #[test]
    fn types_without_a_text_are_refused() {
        for (text, column, problem) in [
            ("{'a': 1}", 1, "the expression is of type map(string, int), which has no text"),
            ("[[1]]", 1, "the expression is of type list(list(int)), which has no text"),
            ("quantity('1')", 1, "the expression is of type quantity, which has no text"),
            (
                "[optional.of({'a': 1})]",
                1,
                "the expression is of type list(optional(map(string, int))), which has no text",
            ),
            ("now", 1, "unknown variable \"now\""),
            ("object.a == old.a", 13, "unknown variable \"old\""),
            ("object.a.b(", 12, "expected an expression, found the end"),
        ] {
            let error = CelValues::parse(text).expect_err(text);
            assert_eq!((error.column, error.problem.as_str()), (column, problem), "{text}");
        }
    }

    #[test]
    fn hostile_expressions_are_bounded() {
        let nested = "[1,2,3,4,5,6,7,8,9].map(a, [1,2,3,4,5,6,7,8,9].map(b, 'x')).size()";
        assert_eq!(values(nested).as_deref(), Ok(&["9".to_owned()][..]));
        let mut text = "'xxxxxxxxxxxxxxxx'".to_owned();
        for _ in 0..24 {
            text = format!("[{text}].map(x, x + x)[0]");
        }
        assert_eq!(values(&text), Err(CelError::TooManySteps));
    }

    #[test]
    fn value_follows_the_first_equals_sign_that_is_no_operator() {
        for (text, expression, value) in [
            ("object.a", "object.a", None),
            ("object.a=x", "object.a", Some("x")),
            ("object.a=", "object.a", Some("")),
            ("object.a = x", "object.a ", Some(" x")),
            ("object.a == 1", "object.a == 1", None),
            ("object.a == 1=true", "object.a == 1", Some("true")),
            ("object.a != 'x=y' && object.b >= 1=true", "object.a != 'x=y' && object.b >= 1", Some("true")),
            ("object.a=b=c,d", "object.a", Some("b=c,d")),
            ("object.a=b==c", "object.a", Some("b==c")),
            ("object.a=it's", "object.a", Some("it's")),
            ("object.a in ['=', \"=\"]=true", "object.a in ['=', \"=\"]", Some("true")),
            ("object.a.split('\\'=')[0]=x", "object.a.split('\\'=')[0]", Some("x")),
            ("object.a == r'\\'=true", "object.a == r'\\'", Some("true")),
            ("f(a=b)", "f(a=b)", None),
            ("f('a=b", "f('a=b", None),
            ("object.a // a=b", "object.a // a=b", None),
            ("", "", None),
        ] {
            assert_eq!(CelValues::split(text), (expression, value), "{text}");
        }
    }
}
