//! `GET /web/qr.svg`: a text as a QR code, with which a telephone opens an inbox.

use axum::http::header;
use axum::response::IntoResponse;
use qrcode::render::svg;
use qrcode::{EcLevel, QrCode};

use crate::http::problem::{Code, Problem};
use crate::http::query::Query;

/// The longest text in octets. A longer one makes a code that cameras can hardly read.
const TEXT_OCTETS_MAX: usize = 1_000;

/// Answers with the code as a picture.
pub(in crate::http) async fn show(query: Query) -> Result<impl IntoResponse, Problem> {
    let text = query.get("text")?.unwrap_or_default();
    let invalid = || Problem::new(Code::TextInvalid, format!("'text' must have 1 to {TEXT_OCTETS_MAX} octets"));
    if text.is_empty() || text.len() > TEXT_OCTETS_MAX {
        return Err(invalid());
    }
    let code = QrCode::with_error_correction_level(text, EcLevel::M).map_err(|_| invalid())?;
    let picture = code.render::<svg::Color<'_>>().min_dimensions(200, 200).build();
    Ok(([(header::CONTENT_TYPE, "image/svg+xml")], picture))
}
