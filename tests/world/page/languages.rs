//! The languages of the page: each has all phrases, in its direction, and none breaks the layout.
//! Promise: it outlives the code below it.

use super::{Trial, views};

/// What is wrong in the words of each language beside English, and forms that the plurals of a language need. A phrase that
/// a language lacks is shown in English.
const MISSING: &str = "(async () => {
    const web = document.querySelector('script').src.replace(/app\\.js$/, '');
    const { WORDS } = await import(web + 'words.js');
    const en = await WORDS.en();
    const missing = [];
    for (const [language, load] of Object.entries(WORDS)) {
        const words = await load();
        const forms = new Intl.PluralRules(language).resolvedOptions().pluralCategories;
        for (const phrase of new Set([...Object.keys(en), ...Object.keys(words)])) {
            const [text, english] = [words[phrase], en[phrase]];
            const texts = typeof text === 'string' ? [text] : Object.values(text ?? {});
            const values = (text) => [...text.matchAll(/\\{\\w+\\}/g)].map(String).sort().join();
            if (text === undefined && phrase in en) continue;
            if (texts.length === 0 || !texts.every((text) => text.trim())) missing.push(`${language}: ${phrase}`);
            else if (!(phrase in en)) missing.push(`${language}: ${phrase} is not in English`);
            else if (typeof english !== typeof text) missing.push(`${language}: ${phrase} has a plural in one of both`);
            else if (typeof text === 'string' && values(text) !== values(english)) missing.push(`${language}: values of ${phrase}`);
            else if (typeof text !== 'string') {
                for (const form of forms) if (!(form in text)) missing.push(`${language}: ${phrase} for ${form}`);
            }
        }
    }
    return [Object.keys(WORDS), missing];
})()";
/// Phrases that were not replaced, or values that were not filled in.
const HOLES: &str = "(document.body.innerText + document.title).match(/undefined|null|NaN|\\{\\w+\\}|\\[object/)";

#[tokio::test]
#[ignore = "needs Chromium"]
async fn each_language_is_whole_and_fits() {
    let trial = Trial::with(views::SETTINGS).await;
    let views = views::prepare(&trial).await;
    trial.open("").await;
    let words = trial.browser.eval(MISSING).await;
    assert_eq!(words[0].as_array().map(Vec::len), Some(6), "{words}");
    assert_eq!(words[1].as_array().map(Vec::len), Some(0), "{words}");
    trial.browser.set_size(360, 740).await;
    for (language, welcome) in [
        ("en", "An inbox for a minute"),
        ("de", "Ein Postfach für eine Minute"),
        ("es", "Un buzón para un minuto"),
        ("fr", "Une boîte pour une minute"),
        ("zh", "临时收件箱"),
        ("ar", "صندوق بريد لدقيقة"),
    ] {
        trial.browser.set_languages(&format!("{language}-XX,{language},en")).await;
        trial.open("").await;
        assert_eq!(trial.browser.text("h1").await, welcome);
        assert_eq!(trial.browser.eval("document.documentElement.lang").await, language);
        let direction = if language == "ar" { "rtl" } else { "ltr" };
        assert_eq!(trial.browser.eval("getComputedStyle(document.body).direction").await, direction);
        for view in &views {
            view.show(&trial).await;
            let what = format!("{} in {language}", view.name);
            assert_eq!(trial.browser.eval(HOLES).await, serde_json::Value::Null, "{what}");
            trial.expect_to_fit(&what).await;
            trial.expect_no_complaints().await;
        }
    }
    a_missing_phrase_is_shown_in_english(&trial).await;
    a_choice_is_remembered(&trial).await;
    large_text_fits(&trial, &views).await;
}

async fn a_missing_phrase_is_shown_in_english(trial: &Trial) {
    trial.browser.set_languages("de").await;
    trial.open("domains").await;
    trial.browser.until("document.querySelector('h1')?.innerText === 'Domains'").await;
    let forget = "(async () => {
        const web = document.querySelector('script').src.replace(/app\\.js$/, '');
        delete (await import(web + 'words.de.js')).de.aboutMore;
    })()";
    trial.browser.eval(forget).await;
    trial.go("about").await;
    trial.browser.until("document.querySelector('h1')?.innerText === 'Über'").await;
    assert!(trial.browser.text("h1 + p").await.starts_with("This service receives mail"));
    trial.expect_no_complaints().await;
}

async fn a_choice_is_remembered(trial: &Trial) {
    trial.browser.set_languages("en").await;
    trial.open("about").await;
    let choose = "(() => { const it = document.querySelector('#foot select'); it.value = 'de'; it.dispatchEvent(new Event('change')); })()";
    trial.browser.eval(choose).await;
    trial.browser.until("document.documentElement.lang === 'de' && document.querySelector('h1')").await;
    trial.open("").await;
    trial.browser.until("document.documentElement.lang === 'de'").await;
    trial.browser.eval("localStorage.removeItem('tempmail.language')").await;
}

/// Text of twice the size in a window of 640 pixels, as the rules of accessibility ask for.
async fn large_text_fits(trial: &Trial, views: &[views::View]) {
    trial.browser.set_size(640, 740).await;
    for view in views {
        view.show(trial).await;
        trial.browser.eval("document.documentElement.style.setProperty('font-size', '200%')").await;
        trial.expect_to_fit(&format!("{} with large text", view.name)).await;
    }
}
