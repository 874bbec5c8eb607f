//! Several windows and tabs.

use reqwest::Method;
use serde_json::{Value, json};

use super::Browser;
use crate::support::until::until_some;

/// A window or tab.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Window(String);

impl Browser {
    /// The one that methods are about.
    pub(crate) async fn window(&self) -> Window {
        Window(text(&self.command(Method::GET, "/window", Value::Null).await))
    }

    /// Opens an empty window, which is in front as well, and turns to it.
    pub(crate) async fn open_window(&self) -> Window {
        self.open_new("window").await
    }

    /// Opens an empty tab, which hides the others of its window, and turns to it.
    pub(crate) async fn open_tab(&self) -> Window {
        self.open_new("tab").await
    }

    async fn open_new(&self, kind: &str) -> Window {
        let opened = self.command(Method::POST, "/window/new", json!({ "type": kind })).await;
        let window = Window(text(&opened["handle"]));
        self.turn_to(&window).await;
        window
    }

    /// From now on methods are about this one. A tab comes in front.
    pub(crate) async fn turn_to(&self, window: &Window) {
        self.command(Method::POST, "/window", json!({ "handle": window.0 })).await;
    }

    /// Closes the current one. The next call must be [`Browser::turn_to`].
    pub(crate) async fn close_window(&self) {
        self.command(Method::DELETE, "/window", Value::Null).await;
    }

    /// All of them, in no order.
    pub(crate) async fn windows(&self) -> Vec<Window> {
        let all = self.command(Method::GET, "/window/handles", Value::Null).await;
        all.as_array().expect("handles").iter().map(|handle| Window(text(handle))).collect()
    }

    /// Waits for one that is none of these, and turns to it.
    pub(crate) async fn turn_to_new(&self, known: &[Window]) -> Window {
        let new = async || self.windows().await.into_iter().find(|window| !known.contains(window));
        let window = until_some("another window", new).await;
        self.turn_to(&window).await;
        window
    }
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_else(|| panic!("no text: {value}")).to_owned()
}
