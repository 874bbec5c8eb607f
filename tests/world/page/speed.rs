//! How soon the page is there, by Chromium's own figures, beside a static page of the same service in the same run.
//!
//! It only prints, and it needs a release build to mean anything. So it runs when it is asked for by its name.
//! Promise: it outlives the code below it.

use serde_json::json;

use super::Trial;

const TO: &str = "speed@example.test";
const ROUNDS: usize = 15;
/// Notes when the first mail is in the list, and has been painted.
const NOTE: &str = "addEventListener('DOMContentLoaded', () => {
    const look = () => {
        if (!document.querySelector('.mails li') || globalThis.inboxAt) return;
        requestAnimationFrame(() => setTimeout(() => (globalThis.inboxAt = performance.now())));
        watch.disconnect();
    };
    const watch = new MutationObserver(look);
    watch.observe(document, { childList: true, subtree: true });
})";
const FIRST_PAINT: &str = "performance.getEntriesByName('first-contentful-paint')[0]?.startTime";

/// What was measured with a cold or a warm cache, in milliseconds.
#[derive(Default)]
struct Figures {
    page_paint: Vec<f64>,
    inbox: Vec<f64>,
    static_paint: Vec<f64>,
}

#[tokio::test]
#[ignore = "needs Chromium, a release build and a quiet machine"]
async fn on_demand_the_page_beside_a_static_one() {
    let trial = Trial::start().await;
    trial.deliver_many(TO, 50).await;
    trial.browser.before_documents(NOTE).await;
    let (mut cold, mut warm) = (Figures::default(), Figures::default());
    for _ in 0..ROUNDS {
        trial.browser.devtools("Network.clearBrowserCache", json!({})).await;
        trial.measure(&mut cold).await;
        trial.measure(&mut warm).await;
    }
    println!(
        "medians of {ROUNDS} rounds, in ms: first contentful paint of the page, 50 mails shown, first contentful paint of /docs"
    );
    for (cache, mut figures) in [("cold", cold), ("warm", warm)] {
        let [page, inbox, docs] =
            [&mut figures.page_paint, &mut figures.inbox, &mut figures.static_paint].map(|them| median(them));
        println!("{cache:5} {page:6.0} {inbox:6.0} {docs:6.0}");
    }
}

impl Trial {
    async fn measure(&self, figures: &mut Figures) {
        figures.static_paint.push(self.paint(&format!("http://{}/docs", self.server.http())).await);
        figures.page_paint.push(self.paint(&self.url(&format!("inbox/{TO}"))).await);
        self.browser.until("globalThis.inboxAt").await;
        figures.inbox.push(self.browser.eval("inboxAt").await.as_f64().expect("a time"));
    }

    async fn paint(&self, url: &str) -> f64 {
        self.browser.open("about:blank").await;
        self.browser.open(url).await;
        self.browser.until(FIRST_PAINT).await;
        self.browser.eval(FIRST_PAINT).await.as_f64().expect("a time")
    }
}

fn median(values: &mut [f64]) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}
