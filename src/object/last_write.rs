//! The last write to an object, as its `metadata.managedFields` record it.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::{Arc, LazyLock, PoisonError, RwLock};

use super::compression::checksum;
use super::json::{self, Entry, Members, Name};

/// The manager, subresource and time of the newest entry of managedFields, in two bytes: stores hold one for each object.
///
/// The upper bits are the number of the author, the lower ones the seconds of its time modulo 63: enough to detect
/// a later write, except for those by the same author after a multiple of 63 seconds. Periods of controllers are multiples
/// of other numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct LastWrite(u16);

const TIME_BITS: u32 = 6;

/// The lower bits of a write whose time is not known.
const UNKNOWN_TIME: u16 = (1 << TIME_BITS) - 1;

/// The number of authors that are distinguished; later ones are unknown.
const MAX_AUTHORS: u16 = u16::MAX >> TIME_BITS;

/// The longest name of a manager that the API allows, in bytes; a subresource is shorter.
const MAX_LENGTH: usize = 128;

/// The authors of this process, by number. A server may send any number of names, so they are bounded. A read-write
/// lock: written once for each author, read for each object and held for a look-up.
static AUTHORS: LazyLock<RwLock<Authors>> = LazyLock::new(RwLock::default);

#[derive(Default)]
struct Authors {
    /// The manager and subresource of number n are at n - 1; 0 is no author.
    authors: Vec<(Arc<str>, Arc<str>)>,
    /// The numbers of the few subresources of each manager.
    numbers: HashMap<Arc<str>, Vec<(Arc<str>, u16)>>,
}

impl LastWrite {
    /// Reads the array of managedFields. Its text may be invalid except for its brackets: the write is then unknown.
    pub(super) fn of(managed_fields: &[u8]) -> Self {
        let newest = newest(managed_fields);
        let write =
            |entry: ManagedFields<'_>| Self::new(&entry.manager, &entry.subresource, time_bits(&entry.time));
        newest.map(write).unwrap_or_default()
    }

    /// Returns a write by this author at an unknown time.
    pub(super) fn by(manager: &str, subresource: &str) -> Self {
        Self::new(manager, subresource, UNKNOWN_TIME)
    }

    fn new(manager: &str, subresource: &str, time: u16) -> Self {
        match number(manager, subresource) {
            0 => Self::default(),
            number => Self(number << TIME_BITS | time),
        }
    }

    /// Returns the place of the author in the list of all.
    fn author(self) -> Option<usize> {
        usize::from(self.0 >> TIME_BITS).checked_sub(1)
    }

    /// Returns the name of the manager, if the write is another one than `before`.
    pub(super) fn manager_since(self, before: Self) -> Option<Arc<str>> {
        self.author_since(before).map(|(manager, _)| manager)
    }

    /// Returns the manager and the subresource, if the write is certainly another one than `before`. If the time of that is
    /// unknown, it is another one only if its manager is: its subresource may be unknown too.
    pub(super) fn author_since(self, before: Self) -> Option<(Arc<str>, Arc<str>)> {
        let at = self.author().filter(|_| self != before)?;
        let authors = &AUTHORS.read().unwrap_or_else(PoisonError::into_inner).authors;
        let author = authors.get(at)?;
        let known = before.author().filter(|_| before.0 & UNKNOWN_TIME == UNKNOWN_TIME);
        let is_same = known.and_then(|known| authors.get(known)).is_some_and(|known| known.0 == author.0);
        (!is_same).then(|| author.clone())
    }
}

/// An entry of managedFields. A member that is absent or no string is empty.
#[derive(Default)]
struct ManagedFields<'a> {
    manager: Cow<'a, str>,
    subresource: Cow<'a, str>,
    time: Cow<'a, str>,
}

/// Returns the newest entry, the last of several with the same time.
fn newest(managed_fields: &[u8]) -> Option<ManagedFields<'_>> {
    let mut newest: Option<ManagedFields<'_>> = None;
    let mut at = 1;
    loop {
        at += blanks(managed_fields, at);
        match managed_fields.get(at)? {
            b'{' => {
                let (entry, end) = entry(managed_fields, at)?;
                // Times of one format and zone, which are in order as texts.
                if newest.as_ref().is_none_or(|newest| newest.time <= entry.time) {
                    newest = Some(entry);
                }
                at = end;
            }
            b',' => at += 1,
            _ => return newest,
        }
    }
}

/// Returns the entry at this position, and its end.
fn entry(text: &[u8], at: usize) -> Option<(ManagedFields<'_>, usize)> {
    let mut entry = ManagedFields::default();
    let mut members = Members::of(text, at);
    loop {
        match members.next()? {
            Entry::End(end) => return Some((entry, end)),
            Entry::Member(Name { written: name, .. }, value) => {
                let end = json::skip_brackets(text, value)?;
                match name {
                    b"manager" => entry.manager = string(&text[value..end]),
                    b"subresource" => entry.subresource = string(&text[value..end]),
                    b"time" => entry.time = string(&text[value..end]),
                    _ => {}
                }
                members.step_over(end);
            }
        }
    }
}

/// Returns the content of a JSON string; nothing for other values.
fn string(json: &[u8]) -> Cow<'_, str> {
    let inside = json.strip_prefix(b"\"").and_then(|json| json.strip_suffix(b"\""));
    match inside.map(str::from_utf8) {
        Some(Ok(text)) if !text.contains('\\') => Cow::Borrowed(text),
        Some(_) => serde_json::from_slice::<String>(json).map(Cow::Owned).unwrap_or_default(),
        None => Cow::default(),
    }
}

fn blanks(text: &[u8], at: usize) -> usize {
    text[at.min(text.len())..].iter().take_while(|byte| byte.is_ascii_whitespace()).count()
}

/// Returns the seconds of a time modulo [`UNKNOWN_TIME`]. They continue after midnight, but not after the end of a month.
fn time_bits(time: &str) -> u16 {
    let field = |from: usize| time.get(from..from + 2).and_then(|digits| digits.parse::<u32>().ok());
    let seconds = match (field(8), field(11), field(14), field(17)) {
        (Some(day), Some(hours), Some(minutes), Some(seconds)) => {
            ((day * 24 + hours) * 60 + minutes) * 60 + seconds
        }
        _ => checksum(time.as_bytes()),
    };
    u16::try_from(seconds % u32::from(UNKNOWN_TIME)).unwrap_or_default()
}

/// Returns the number of an author, and registers a new one. Returns 0 if there is no author, or if too many are
/// known.
fn number(manager: &str, subresource: &str) -> u16 {
    if manager.is_empty() || manager.len() > MAX_LENGTH || subresource.len() > MAX_LENGTH {
        return 0;
    }
    if let Some(number) = AUTHORS.read().unwrap_or_else(PoisonError::into_inner).number(manager, subresource)
    {
        return number;
    }
    let mut authors = AUTHORS.write().unwrap_or_else(PoisonError::into_inner);
    authors.number(manager, subresource).unwrap_or_else(|| authors.add(manager, subresource))
}

impl Authors {
    fn number(&self, manager: &str, subresource: &str) -> Option<u16> {
        let subresources = self.numbers.get(manager)?;
        subresources.iter().find(|(known, _)| **known == *subresource).map(|(_, number)| *number)
    }

    /// Returns the number of an author that has none yet.
    fn add(&mut self, manager: &str, subresource: &str) -> u16 {
        match u16::try_from(self.authors.len() + 1) {
            Ok(number) if number <= MAX_AUTHORS => {
                let (manager, subresource): (Arc<str>, Arc<str>) = (manager.into(), subresource.into());
                self.authors.push((Arc::clone(&manager), Arc::clone(&subresource)));
                self.numbers.entry(manager).or_default().push((subresource, number));
                number
            }
            _ => 0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn write(entries: &[(&str, &str)]) -> LastWrite {
        let entries: Vec<String> = entries
            .iter()
            .map(|(manager, time)| {
                format!(
                    r#"{{"manager":"{manager}","operation":"Update","apiVersion":"v1","time":"{time}","fieldsType":"FieldsV1","fieldsV1":{{"f:time":{{}},"k:{{\"manager\":\"x\"}}":{{"f:manager":{{}}}}}}}}"#
                )
            })
            .collect();
        LastWrite::of(format!("[{}]", entries.join(",")).as_bytes())
    }

    fn since(new: LastWrite, old: LastWrite) -> Option<String> {
        new.manager_since(old).map(|name| name.to_string())
    }

    const NOON: &str = "2026-11-21T12:00:00Z";
    const LATER: &str = "2026-11-21T12:00:01Z";

    #[test]
    fn newest_entry_names_the_manager() {
        let old = write(&[("kubelet", NOON), ("scheduler", NOON)]);
        assert_eq!(since(old, LastWrite::default()).as_deref(), Some("scheduler"));
        let new = write(&[("kubelet", LATER), ("scheduler", NOON)]);
        assert_eq!(since(new, old).as_deref(), Some("kubelet"));
        assert_eq!(since(new, new), None, "no entry has changed");
        assert_eq!(since(write(&[("kubelet", "2027-01-01T12:00:02Z")]), new).as_deref(), Some("kubelet"));
    }

    #[test]
    fn later_writes_of_one_manager_are_detected() {
        let at = |seconds: u32| {
            let (hour, minute, second) = (12 + seconds / 3600, seconds / 60 % 60, seconds % 60);
            write(&[("kubelet", &format!("2026-11-21T{hour:02}:{minute:02}:{second:02}Z"))])
        };
        for seconds in [1, 30, 60, 64, 300, 600, 640, 3600] {
            assert_eq!(since(at(seconds), at(0)).as_deref(), Some("kubelet"), "{seconds}");
        }
        let midnight = write(&[("kubelet", "2026-11-22T00:00:00Z")]);
        for before in ["2026-11-21T23:59:59Z", "2026-11-21T23:59:33Z", "2026-11-21T23:58:56Z"] {
            assert_eq!(
                since(midnight, write(&[("kubelet", before)])).as_deref(),
                Some("kubelet"),
                "{before}"
            );
        }
    }

    #[test]
    fn only_another_manager_is_certain_after_a_write_at_an_unknown_time() {
        let before = LastWrite::by("kubelet", "");
        for seconds in 0..UNKNOWN_TIME {
            let time = format!("2026-11-21T12:{:02}:{:02}Z", seconds / 60, seconds % 60);
            assert_eq!(since(write(&[("kubelet", &time)]), before), None, "{time}");
            assert_eq!(since(write(&[("helm", &time)]), before).as_deref(), Some("helm"), "{time}");
        }
        assert_eq!(since(before, LastWrite::default()).as_deref(), Some("kubelet"));
        assert_eq!(since(before, LastWrite::by("helm", "")).as_deref(), Some("kubelet"));
    }

    #[test]
    fn unusual_managed_fields_have_no_manager() {
        for text in [
            "[]",
            "null",
            "[",
            "",
            "{}",
            "[1]",
            r#"[{"time":"2026-11-21T12:00:00Z"}]"#,
            r#"[{"manager":7,"time":"x"}]"#,
            r#"[{"manager":"\ud800","time":"x"}]"#,
            r#"[{"manager":"","time":"x"}]"#,
        ] {
            assert_eq!(LastWrite::of(text.as_bytes()), LastWrite::default(), "{text}");
        }
        assert_eq!(write(&[(&"x".repeat(129), NOON)]), LastWrite::default());
    }

    #[test]
    fn unusual_spelling_is_accepted() {
        let odd = write(&[("a\\n\\\"b", LATER), ("kubelet", NOON)]);
        assert_eq!(since(odd, LastWrite::default()).as_deref(), Some("a\n\"b"));
        let spaced = b"[ { \"manager\" : \"helm\" } ,\n { \"time\" : \"2026-11-21T12:00:00Z\", \"manager\" : \"argo\" } ]";
        assert_eq!(since(LastWrite::of(spaced), LastWrite::default()).as_deref(), Some("argo"));
    }

    #[test]
    fn subresource_belongs_to_the_author() {
        let of = |subresource: &str| {
            let text = format!(r#"[{{"manager":"kubelet","subresource":"{subresource}","time":"{NOON}"}}]"#);
            LastWrite::of(text.as_bytes())
        };
        let (status, whole) = (of("status"), write(&[("kubelet", NOON)]));
        let (manager, subresource) = status.author_since(whole).expect("another author");
        assert_eq!((&*manager, &*subresource), ("kubelet", "status"));
        let (_, subresource) = whole.author_since(status).expect("another author");
        assert_eq!(&*subresource, "");
        assert_eq!(of("status").author_since(status), None);
    }

    #[test]
    fn authors_are_bounded() {
        let mut authors = Authors::default();
        let add = |at: u16| {
            authors.add(&format!("manager-{}", at / 2), if at.is_multiple_of(2) { "" } else { "status" })
        };
        let numbers: Vec<u16> = (0..MAX_AUTHORS + 2).map(add).collect();
        assert_eq!((numbers[0], numbers[usize::from(MAX_AUTHORS) - 1]), (1, MAX_AUTHORS));
        assert_eq!(numbers[usize::from(MAX_AUTHORS)..], [0, 0]);
        assert_eq!(authors.authors.len(), usize::from(MAX_AUTHORS));
    }
}
