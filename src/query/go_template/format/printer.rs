//! Values as Go's `fmt` prints them.

use super::buffer::Buffer;
use super::flags::Flags;
use super::integer::Integer;
use super::quote::{can_backquote, quoted};
use crate::object::JsonValue;
use crate::query::go_template::limits::MAX_VALUE_DEPTH;
use crate::query::go_template::value::{Data, Value};

/// Writes values as `Sprint`: with spaces between those that are no strings.
pub(in crate::query::go_template) fn print(values: &[Value<'_>], out: &mut Buffer<'_>) {
    let mut is_after_text = true;
    for value in values {
        let is_text = matches!(value.data, Data::Text(_));
        if !is_text && !is_after_text {
            out.text(" ");
        }
        print_value(value, out);
        is_after_text = is_text;
    }
}

/// Writes values as `Sprintln`.
pub(in crate::query::go_template) fn print_line(values: &[Value<'_>], out: &mut Buffer<'_>) {
    for (at, value) in values.iter().enumerate() {
        out.text(if at == 0 { "" } else { " " });
        print_value(value, out);
    }
    out.text("\n");
}

/// Writes a value as `%v`.
pub(in crate::query::go_template) fn print_value(value: &Value<'_>, out: &mut Buffer<'_>) {
    print_with(&Flags::default(), value, 'v', out);
}

/// Writes a value with a verb that has no flags. Unlike an argument of a function, it is not nil.
pub(in crate::query::go_template) fn print_verb(value: &Value<'_>, verb: char, out: &mut Buffer<'_>) {
    print_data(&Flags::default(), &value.data, verb, 0, out);
}

/// Writes an argument of a function with a verb.
pub(super) fn print_with(flags: &Flags, value: &Value<'_>, verb: char, out: &mut Buffer<'_>) {
    match (verb, &value.data) {
        ('T' | 'v', Data::Nil) => flags.pad(b"<nil>", out),
        (_, Data::Nil) => bad_verb(flags, None, verb, out),
        ('T', data) => {
            let name = flags.truncate(data.type_name().as_bytes());
            flags.pad(name, out);
        }
        // The address is not that of Go's memory.
        ('p', Data::List(_) | Data::Map(_) | Data::Raw(_)) => flags.pad(b"0xc000000000", out),
        ('w', data @ (Data::List(_) | Data::Map(_))) => bad_verb(flags, Some(data), verb, out),
        (_, data) => print_data(flags, data, verb, 0, out),
    }
}

/// Writes `%!d(string=x)`.
fn bad_verb(flags: &Flags, data: Option<&Data<'_>>, verb: char, out: &mut Buffer<'_>) {
    out.text("%!");
    out.character(verb);
    out.text("(");
    match data {
        None => out.text("<nil>"),
        Some(data) => {
            out.text(data.type_name());
            out.text("=");
            print_data(flags, data, 'v', 0, out);
        }
    }
    out.text(")");
}

fn print_data(flags: &Flags, data: &Data<'_>, verb: char, depth: usize, out: &mut Buffer<'_>) {
    if depth > MAX_VALUE_DEPTH {
        out.fill();
    }
    if out.is_full() {
        return;
    }
    let is_printed = match data {
        Data::Nil => {
            // Only inside of arrays and objects.
            out.text(if flags.is_go_syntax { "interface {}(nil)" } else { "<nil>" });
            true
        }
        Data::Bool(value) => {
            let is_printed = matches!(verb, 't' | 'v');
            if is_printed {
                flags.pad(if *value { b"true" } else { b"false" }, out);
            }
            is_printed
        }
        Data::Int(value) | Data::Int64(value) => flags.integer(Integer::signed(*value), verb, out),
        Data::Byte(value) => {
            let value = Integer::unsigned((*value).into());
            if verb == 'v' && flags.is_go_syntax {
                Flags { sharp: true, ..*flags }.integer(value, 'x', out)
            } else {
                flags.integer(value, verb, out)
            }
        }
        Data::Float(value) => flags.float(*value, verb, out),
        Data::Complex(real, imaginary) => complex(flags, *real, *imaginary, verb, out),
        Data::Text(text) => print_text(flags, text.bytes(), verb, out),
        Data::List(list) => {
            print_list(flags, list.items(), verb, depth, out);
            true
        }
        Data::Map(members) => {
            out.text(if flags.is_go_syntax { "map[string]interface {}{" } else { "map[" });
            for (at, (key, member)) in members.iter().enumerate() {
                separate(flags, at, out);
                if !print_text(flags, key.as_bytes(), verb, out) {
                    let key = Value::borrowed(key.as_bytes()).data;
                    bad_verb(flags, Some(&key), verb, out);
                }
                out.text(":");
                print_element(flags, member, verb, depth, out);
            }
            out.text(if flags.is_go_syntax { "}" } else { "]" });
            true
        }
        Data::Raw(json) => {
            flags.pad(json, out);
            true
        }
    };
    if !is_printed {
        bad_verb(flags, Some(data), verb, out);
    }
}

fn print_list(flags: &Flags, items: &[JsonValue<'_>], verb: char, depth: usize, out: &mut Buffer<'_>) {
    out.text(if flags.is_go_syntax { "[]interface {}{" } else { "[" });
    for (at, item) in items.iter().enumerate() {
        separate(flags, at, out);
        print_element(flags, item, verb, depth, out);
    }
    out.text(if flags.is_go_syntax { "}" } else { "]" });
}

fn separate(flags: &Flags, at: usize, out: &mut Buffer<'_>) {
    out.text(match (at, flags.is_go_syntax) {
        (0, _) => "",
        (_, true) => ", ",
        _ => " ",
    });
}

/// Writes an element of an array or object. The verbs for types and addresses are not special here.
fn print_element(flags: &Flags, element: &JsonValue<'_>, verb: char, depth: usize, out: &mut Buffer<'_>) {
    let data = Data::of_json(element);
    match data {
        Data::List(_) | Data::Map(_) if verb == 'w' => bad_verb(flags, Some(&data), verb, out),
        _ => print_data(flags, &data, verb, depth + 1, out),
    }
}

fn complex(flags: &Flags, real: f64, imaginary: f64, verb: char, out: &mut Buffer<'_>) -> bool {
    let is_printed = matches!(verb, 'v' | 'b' | 'g' | 'G' | 'x' | 'X' | 'f' | 'F' | 'e' | 'E');
    if is_printed {
        out.text("(");
        flags.float(real, verb, out);
        Flags { plus: true, ..*flags }.float(imaginary, verb, out);
        out.text("i)");
    }
    is_printed
}

/// Writes a string, or returns false if the verb is not for strings.
fn print_text(flags: &Flags, text: &[u8], verb: char, out: &mut Buffer<'_>) -> bool {
    match verb {
        'v' if flags.is_go_syntax => print_quoted(flags, text, out),
        'v' | 's' => flags.pad(flags.truncate(text), out),
        'q' => print_quoted(flags, text, out),
        'x' | 'X' => print_hexadecimal(flags, text, verb, out),
        _ => return false,
    }
    true
}

fn print_quoted(flags: &Flags, text: &[u8], out: &mut Buffer<'_>) {
    let text = flags.truncate(text);
    if flags.sharp && can_backquote(text) {
        let text = [b"`", text, b"`"].concat();
        flags.pad(&text, out);
    } else {
        flags.pad(quoted(text, '"', flags.plus).as_bytes(), out);
    }
}

/// Writes the bytes of a string; the precision counts bytes.
fn print_hexadecimal(flags: &Flags, text: &[u8], verb: char, out: &mut Buffer<'_>) {
    let length = flags.precision.unwrap_or(usize::MAX).min(text.len());
    let prefix = match (flags.sharp, verb) {
        (false, _) => "",
        (true, 'X') => "0X",
        (true, _) => "0x",
    };
    let mut encoded = String::with_capacity(length * 2 + prefix.len());
    for (at, byte) in text[..length].iter().enumerate() {
        if at > 0 && flags.space {
            encoded.push(' ');
        }
        if at == 0 || flags.space {
            encoded.push_str(prefix);
        }
        let digits = if verb == 'X' { b"0123456789ABCDEF" } else { b"0123456789abcdef" };
        encoded.push(char::from(digits[usize::from(byte >> 4)]));
        encoded.push(char::from(digits[usize::from(byte & 15)]));
    }
    flags.pad(encoded.as_bytes(), out);
}
