//! gzip compression of large responses for clients that accept it, from the same size on as a real server.

use std::io::Write;

use bytes::Bytes;
use flate2::Compression;
use flate2::write::GzEncoder;
use http::{HeaderMap, HeaderValue, Response, header};
use http_body_util::{BodyExt, Full};
use hyper::body::Body as _;

use super::response::{Body, boxed};

/// Smaller responses are not compressed.
pub(crate) const THRESHOLD: usize = 128 * 1024;

/// Returns whether a client accepts gzip.
pub(crate) fn accepted(headers: &HeaderMap) -> bool {
    let accepted =
        headers.get(header::ACCEPT_ENCODING).and_then(|value| value.to_str().ok()).unwrap_or_default();
    accepted.split(',').any(|coding| coding.split(';').next().is_some_and(|coding| coding.trim() == "gzip"))
}

/// Sets the headers of a compressed response.
pub(crate) fn set_headers<T>(response: &mut Response<T>) {
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_ENCODING, HeaderValue::from_static("gzip"));
    headers.insert(header::VARY, HeaderValue::from_static("Accept-Encoding"));
}

/// A streaming compressor.
pub(crate) struct Gzip(GzEncoder<Vec<u8>>);

impl Gzip {
    /// Uses a real server's compression level, which is the fastest.
    pub(crate) fn new() -> Self {
        Self(GzEncoder::new(Vec::new(), Compression::new(1)))
    }

    /// Compresses data. The returned output may be empty, because the encoder buffers.
    pub(crate) fn compress(&mut self, data: &[u8]) -> Vec<u8> {
        // Writing into a Vec does not fail.
        let _written = self.0.write_all(data);
        std::mem::take(self.0.get_mut())
    }

    /// Returns the remaining output.
    pub(crate) fn finish(self) -> Vec<u8> {
        self.0.finish().unwrap_or_default()
    }
}

/// Compresses a response if its body is complete and large.
pub(crate) async fn compress_if_large(response: Response<Body>) -> Response<Body> {
    let is_large = response.body().size_hint().exact().is_some_and(|size| size > THRESHOLD as u64);
    if !is_large || response.headers().contains_key(header::CONTENT_ENCODING) {
        return response;
    }
    let (head, body) = response.into_parts();
    let Ok(body) = body.collect().await;
    let mut gzip = Gzip::new();
    let mut out = gzip.compress(&body.to_bytes());
    out.extend(gzip.finish());
    let mut response = Response::from_parts(head, boxed(Full::new(Bytes::from(out))));
    set_headers(&mut response);
    response
}

#[cfg(test)]
mod tests {
    use std::io::Read;

    use super::*;

    #[test]
    fn separate_writes_form_one_stream() {
        let mut gzip = Gzip::new();
        let mut out = Vec::new();
        for piece in [b"one ".to_vec(), vec![b'x'; 100_000], b" two".to_vec()] {
            out.extend(gzip.compress(&piece));
        }
        out.extend(gzip.finish());
        let mut text = String::new();
        flate2::read::GzDecoder::new(out.as_slice()).read_to_string(&mut text).expect("gzip");
        assert!(text.starts_with("one xxx") && text.ends_with("xxx two") && text.len() == 100_008);
        assert!(out.len() < 1_000);
    }

    #[test]
    fn gzip_is_accepted_by_name() {
        for (value, expected) in
            [("gzip", true), ("deflate, gzip;q=0.5", true), ("identity", false), ("", false)]
        {
            let headers = HeaderMap::from_iter([(header::ACCEPT_ENCODING, HeaderValue::from_static(value))]);
            assert_eq!(accepted(&headers), expected, "{value}");
        }
    }
}
