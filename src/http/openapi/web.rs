//! The page for people.

use super::operation::Operation;
use super::schema::text;
use crate::http::problem::Code;

pub(super) fn operations() -> Vec<Operation> {
    vec![
        Operation::get("/web/{version}/{file}", "getPageFile", "Get a file of the page that browsers get at `/`")
            .also_in_path("version", text("The version of the page, as its document names it.", "0f3a9c41d2e87b56"))
            .also_in_path("file", text("The name of the file.", "style.css"))
            .answer(200, "The file, which never changes.", "*/*", super::plain_text())
            .fails(&[Code::UnknownPath]),
    ]
}
