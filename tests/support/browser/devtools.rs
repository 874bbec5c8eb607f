//! What only Chromium offers: themes, sizes, no network, the clipboard, and pictures.

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use reqwest::Method;
use serde_json::{Value, json};

use super::Browser;

impl Browser {
    /// A command of the protocol of Chromium's developer tools.
    pub(crate) async fn devtools(&self, command: &str, parameters: Value) -> Value {
        let answer = self.try_devtools(command, parameters).await;
        answer.unwrap_or_else(|error| panic!("{command}: {error}"))
    }

    pub(super) async fn try_devtools(&self, command: &str, parameters: Value) -> Result<Value, Value> {
        let body = json!({ "cmd": command, "params": parameters });
        self.try_command(Method::POST, "/goog/cdp/execute", &body).await
    }

    /// Runs a script in each document of this tab before the document's own.
    pub(crate) async fn before_documents(&self, script: &str) {
        self.devtools("Page.addScriptToEvaluateOnNewDocument", json!({ "source": script })).await;
    }

    /// Makes pages believe that the user wants the dark theme, or the light one.
    pub(crate) async fn set_dark(&self, is_dark: bool) {
        let theme = json!({ "name": "prefers-color-scheme", "value": if is_dark { "dark" } else { "light" } });
        self.devtools("Emulation.setEmulatedMedia", json!({ "features": [theme] })).await;
    }

    /// Sets the size of the page in CSS pixels.
    pub(crate) async fn set_size(&self, width: u32, height: u32) {
        let size = json!({ "width": width, "height": height, "deviceScaleFactor": 1, "mobile": false });
        self.devtools("Emulation.setDeviceMetricsOverride", size).await;
    }

    /// Cuts the tab off from the network, or connects it again.
    pub(crate) async fn set_offline(&self, is_offline: bool) {
        let unlimited = -1;
        self.devtools("Network.enable", json!({})).await;
        let conditions = json!({ "offline": is_offline, "latency": 0, "downloadThroughput": unlimited,
                                 "uploadThroughput": unlimited });
        self.devtools("Network.emulateNetworkConditions", conditions).await;
    }

    /// Makes pages believe that the browser's languages are these, as in the field `Accept-Language`.
    pub(crate) async fn set_languages(&self, languages: &str) {
        let agent = self.eval("navigator.userAgent").await;
        let parameters = json!({ "userAgent": agent, "acceptLanguage": languages });
        self.devtools("Emulation.setUserAgentOverride", parameters).await;
    }

    /// What was copied last, after [`Browser::permit_clipboard`].
    pub(crate) async fn clipboard(&self) -> String {
        let text = self.eval("navigator.clipboard.readText()").await;
        text.as_str().expect("text").to_owned()
    }

    /// Lets pages read and write the clipboard, even while their window has no focus.
    pub(crate) async fn permit_clipboard(&self) {
        let permissions = json!({ "permissions": ["clipboardReadWrite", "clipboardSanitizedWrite"] });
        self.devtools("Browser.grantPermissions", permissions).await;
        self.devtools("Emulation.setFocusEmulationEnabled", json!({ "enabled": true })).await;
    }

    /// The page as it is seen, as PNG.
    pub(crate) async fn screenshot(&self) -> Vec<u8> {
        let picture = self.devtools("Page.captureScreenshot", json!({ "format": "png" })).await;
        BASE64_STANDARD.decode(picture["data"].as_str().expect("a picture")).expect("base64")
    }

    /// The document with all frames in it, as a tree of nodes, whatever their origins are.
    pub(crate) async fn tree(&self) -> Value {
        self.devtools("DOM.getDocument", json!({ "depth": -1, "pierce": true })).await["root"].take()
    }
}
