//! The page for people with assistive technology: the rules of axe-core, in each view and both themes.
//! Promise: it outlives the code below it.

use serde_json::Value;

use super::{Trial, views};
use crate::support::programs;

/// The frame of a mail runs no script, so the rules cannot be asked within it.
const VIOLATIONS: &str = "axe.run(document, { iframes: false, resultTypes: ['violations'] }).then(({ violations, passes }) =>
    passes.length > 5 ? violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(' ')}`) : ['nothing was checked'])";

#[tokio::test]
#[ignore = "needs Chromium and axe-core"]
async fn each_view_keeps_the_rules_of_accessibility() {
    let axe = programs::installed_by_npm("axe-core/axe.min.js");
    let trial = Trial::with(views::SETTINGS).await;
    let mut violations = Vec::new();
    for view in views::prepare(&trial).await {
        view.show(&trial).await;
        for (width, is_dark) in [(360, false), (360, true), (1280, true), (1280, false)] {
            trial.browser.set_size(width, 800).await;
            trial.browser.set_dark(is_dark).await;
            trial.browser.until(&format!("matchMedia('(prefers-color-scheme: dark)').matches === {is_dark}")).await;
            for found in found(&trial, &axe).await {
                violations.push(format!("{} at {width}, dark: {is_dark}: {found}", view.name));
            }
        }
    }
    assert!(violations.is_empty(), "{}", violations.join("\n"));
}

async fn found(trial: &Trial, axe: &str) -> Vec<String> {
    trial.browser.eval(&format!("void (() => {{ {axe} }})()")).await;
    let found: Value = trial.browser.eval(VIOLATIONS).await;
    found.as_array().expect("violations").iter().map(|it| it.as_str().expect("text").to_owned()).collect()
}
