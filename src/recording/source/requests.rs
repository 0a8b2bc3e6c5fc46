//! The requests that a server of a recording serves in addition to those of every source.

use http::{Method, Response};
use serde_json::{Value, json};

use super::mover::{Mover, ServedMoment};
use super::reviews;
use crate::recording::entry::{Gap, Moment};
use crate::recording::error::RecordingError;
use crate::server::api_error::ApiError;
use crate::server::http::request::ApiRequest;
use crate::server::http::response::{self, Body};
use crate::server::source::Unreadable;

/// Returns the response to a request, or `None` if the server handles it as for any source.
pub(super) fn respond(mover: &Mover, request: &ApiRequest) -> Option<Response<Body>> {
    let path: Vec<&str> = request.path.iter().map(String::as_str).collect();
    match path.as_slice() {
        ["kdelta", "moment"] => {
            Some(moment(mover, request).unwrap_or_else(|error| response::error_response(&error)))
        }
        ["apis", group, "v1", plural] if request.method == Method::POST => {
            reviews::respond(group, plural, request, mover.source().current().kinds())
        }
        _ => None,
    }
}

/// Moves to the requested moment, if there is one, and returns the moment.
fn moment(mover: &Mover, request: &ApiRequest) -> Result<Response<Body>, ApiError> {
    // GET moves the moment too, because kdelta's client sends no other method. Both need the token, which no web
    // page has.
    let requested = match request.method {
        Method::GET => Some(request.query.text("to").to_owned()).filter(|text| !text.is_empty()),
        Method::POST => Some(requested_in_body(request)?),
        _ => return Err(ApiError::method_not_allowed()),
    };
    if let Some(text) = requested {
        let moment = parsed(&text)?;
        if mover.is_after_end(moment).map_err(move_error)? {
            return Err(ApiError::bad_request(format!("the recording ends before {text}")));
        }
        mover.move_to(moment).map_err(move_error)?;
    }
    let moment = mover.moment().map_err(move_error)?;
    Ok(response::json(200, &json_of(&moment)))
}

fn requested_in_body(request: &ApiRequest) -> Result<String, ApiError> {
    let body: Value = serde_json::from_slice(&request.body.bytes).unwrap_or_default();
    let text = body["to"].as_str().map(str::to_owned);
    text.ok_or_else(|| {
        ApiError::bad_request(r#"the body must be JSON such as {"to": "2026-11-24T03:12:00Z"}"#)
    })
}

fn parsed(text: &str) -> Result<Moment, ApiError> {
    let moment = match text.strip_prefix("rv:") {
        Some(version) => version.parse().ok().map(Moment::Version),
        None if text == "end" => Some(Moment::End),
        None => text.parse().ok().map(Moment::Time),
    };
    moment.ok_or_else(|| {
        ApiError::bad_request(format!(
            "invalid moment {text:?}: it is a time such as 2026-11-24T03:12:00Z, a version such as rv:1234, or end"
        ))
    })
}

fn move_error(error: RecordingError) -> ApiError {
    match error {
        RecordingError::BeforeBeginning { .. } => ApiError::bad_request(error.to_string()),
        error => ApiError::unreadable(Unreadable(error.to_string())),
    }
}

fn json_of(moment: &ServedMoment) -> Value {
    let ServedMoment { context, time, range, gap } = moment;
    let text = |time: jiff::Timestamp| time.to_string();
    let mut value = json!({
        "context": context,
        "time": time.map(text),
        "beginning": range.map(|(beginning, _)| text(beginning)),
        "end": range.map(|(_, end)| text(end)),
    });
    if let Some(Gap { from, to, resource, .. }) = gap {
        let resource = resource.as_ref().map(|resource| resource.group_resource());
        value["gap"] = json!({"from": text(*from), "to": text(*to), "resource": resource});
    }
    value
}
