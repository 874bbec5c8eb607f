//! Clicks, keys and text, as from a person.

use reqwest::Method;
use serde_json::{Value, json};

use super::Browser;
use crate::support::until::until_some;

/// Keys without a character, as the protocol names them.
pub(crate) mod keys {
    pub(crate) const TAB: &str = "\u{e004}";
    pub(crate) const ENTER: &str = "\u{e007}";
    pub(crate) const ESCAPE: &str = "\u{e00c}";
}

/// The member that holds the id of an element, by the protocol.
const ELEMENT: &str = "element-6066-11e4-a52e-4f735466cecf";

impl Browser {
    /// Clicks an element once it is there and nothing covers it.
    pub(crate) async fn click(&self, selector: &str) {
        until_some(format_args!("a click on {selector}"), async || {
            let id = self.element(selector).await?;
            self.try_command(Method::POST, &format!("/element/{id}/click"), &json!({})).await.ok()
        })
        .await;
    }

    /// Presses keys one after another, each by itself. The element with the focus gets them.
    pub(crate) async fn press(&self, keys: &str) {
        let presses = keys.chars().flat_map(|key| {
            let key = key.to_string();
            [json!({ "type": "keyDown", "value": key }), json!({ "type": "keyUp", "value": key })]
        });
        let source = json!({ "type": "key", "id": "keyboard", "actions": presses.collect::<Vec<_>>() });
        self.command(Method::POST, "/actions", json!({ "actions": [source] })).await;
    }

    /// Types a text into an empty field.
    pub(crate) async fn type_into(&self, selector: &str, text: &str) {
        self.click(selector).await;
        self.press(text).await;
    }

    /// Clicks an element within a frame, whatever the origin of the frame is.
    pub(crate) async fn click_in_frame(&self, frame: &str, selector: &str) {
        self.enter(frame).await;
        self.click(selector).await;
        self.leave_frame().await;
    }

    /// The value of a property of the style that an element within a frame has, likewise.
    pub(crate) async fn style_in_frame(&self, frame: &str, selector: &str, property: &str) -> String {
        self.enter(frame).await;
        let id = until_some(format_args!("the element {selector}"), async || self.element(selector).await).await;
        let value = self.command(Method::GET, &format!("/element/{id}/css/{property}"), Value::Null).await;
        self.leave_frame().await;
        value.as_str().expect("a value").to_owned()
    }

    async fn enter(&self, frame: &str) {
        let id = until_some(format_args!("the frame {frame}"), async || self.element(frame).await).await;
        self.command(Method::POST, "/frame", json!({ "id": { ELEMENT: id } })).await;
    }

    async fn leave_frame(&self) {
        self.command(Method::POST, "/frame", json!({ "id": null })).await;
    }

    /// The first element that a selector finds.
    async fn element(&self, selector: &str) -> Option<String> {
        let wanted = json!({ "using": "css selector", "value": selector });
        let found = self.try_command(Method::POST, "/element", &wanted).await.ok()?;
        found[ELEMENT].as_str().map(str::to_owned)
    }
}
