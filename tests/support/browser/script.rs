//! What the page says to an expression of JavaScript, and waiting for it.

use reqwest::Method;
use serde_json::{Value, json};

use super::{Browser, Session};
use crate::support::until::comes_true;

impl Browser {
    /// The value of an expression in the page, as JSON. A promise is awaited. An exception fails the test.
    pub(crate) async fn eval(&self, expression: &str) -> Value {
        self.try_eval(expression).await.unwrap_or_else(|error| panic!("{expression}: {error}"))
    }

    /// Waits until an expression is true. An expression that throws, as in a page that loads, is not true.
    pub(crate) async fn until(&self, expression: &str) {
        let mut last = Ok(Value::Null);
        let is_true = comes_true(async || {
            last = self.try_eval(&format!("!!({expression})")).await;
            last == Ok(Value::Bool(true))
        });
        if !is_true.await {
            let page = self.try_eval("location.hash + ' ' + document.body.innerText.slice(0, 2000)").await;
            panic!("waited in vain: {expression}: {last:?}: {page:?}");
        }
    }

    /// How many elements a selector finds.
    pub(crate) async fn count(&self, selector: &str) -> u64 {
        self.eval(&format!("document.querySelectorAll({}).length", quoted(selector))).await.as_u64().expect("a number")
    }

    /// The text of the first element that a selector finds, as it is shown.
    pub(crate) async fn text(&self, selector: &str) -> String {
        let text = self.eval(&format!("document.querySelector({})?.innerText", quoted(selector))).await;
        text.as_str().unwrap_or_else(|| panic!("no {selector}")).to_owned()
    }

    async fn try_eval(&self, expression: &str) -> Result<Value, Value> {
        if matches!(self.session, Session::Firefox(_)) {
            return self.try_eval_in_firefox(expression).await;
        }
        let parameters = json!({ "expression": expression, "awaitPromise": true, "returnByValue": true });
        let answer = self.try_devtools("Runtime.evaluate", parameters).await?;
        match answer.get("exceptionDetails") {
            Some(details) => Err(details.pointer("/exception/description").unwrap_or(details).clone()),
            None => Ok(answer["result"]["value"].clone()),
        }
    }

    async fn try_eval_in_firefox(&self, expression: &str) -> Result<Value, Value> {
        let script = format!(
            "const end = arguments[0]; (async () => ({expression}))().then((value) => end({{ value }}), (error) => end({{ error: String(error) }}))"
        );
        let body = json!({ "script": script, "args": [] });
        let mut answer = self.try_command(Method::POST, "/execute/async", &body).await?;
        match answer.get("error") {
            Some(error) => Err(error.clone()),
            None => Ok(answer["value"].take()),
        }
    }
}

/// A text as a literal of JavaScript.
pub(crate) fn quoted(text: &str) -> String {
    Value::from(text).to_string()
}
