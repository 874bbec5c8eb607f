//! `tempmail domain check-dns`

use super::super::Context;
use super::super::output::{self, Format, visible};
use super::zone;
use crate::dns::MxReport;
use crate::error::{Error, Exit};
use crate::model::DomainName;

/// Ask DNS whether the MX record of a domain points at this service
///
/// Prints lines for a zone file: the record that is expected, and what was found as a comment. Exit code 8 when the MX
/// points elsewhere, 6 when DNS gave no answer.
#[derive(clap::Args, Debug)]
#[command(after_help = "\
Examples:
  tempmail domain check-dns example.org
  tempmail domain check-dns example.org >> example.org.zone
  tempmail domain check-dns example.org --json | jq .found")]
pub(super) struct CheckDns {
    /// The domain
    #[arg(value_name = "DOMAIN")]
    name: DomainName,
}

impl CheckDns {
    pub(super) async fn run(self, cx: &Context) -> Result<Exit, Error> {
        let check = cx.client().await?.check_dns(&self.name).await?;
        cx.print(match cx.style.of_document() {
            Format::Table => in_zone(&check),
            Format::Json => output::json(&check),
            Format::Ndjson => output::json_line(&check),
            Format::Tsv => in_tsv(&check),
            Format::Id => format!("{}\n", self.name),
        })?;
        if check.ok {
            return Ok(Exit::Ok);
        }
        cx.hint(&format!("create the expected record in the zone of {}, then `tempmail domain add {0}`", self.name));
        Ok(Exit::CheckFailed)
    }
}

/// A piece of a zone file; pasting all of it is right.
fn in_zone(check: &MxReport) -> String {
    let expected = zone::records(&check.expected);
    let found = zone::commented(&zone::records(&check.found));
    format!("; {}\n; expected:\n{expected}; found:\n{found}", visible::line(&check.message))
}

fn in_tsv(check: &MxReport) -> String {
    let lines = |label, values: &[String]| -> String {
        values.iter().map(|value| [label, "\t", &visible::field(value), "\n"].concat()).collect()
    };
    format!("ok\t{}\n{}{}", check.ok, lines("expected", &check.expected), lines("found", &check.found))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everything_but_the_expected_record_is_a_comment() {
        let check = MxReport {
            ok: false,
            message: "points\nelsewhere".to_owned(),
            domain: "example.org".parse().expect("name"),
            expected: vec!["example.org. IN MX 10 mx.tempmail.example.".to_owned()],
            found: vec![
                "example.org. IN MX 5 mail.other.example.".to_owned(),
                "evil\nexample.org. IN MX 0 x".to_owned(),
            ],
            sentence: String::new(),
        };
        assert_eq!(
            in_zone(&check),
            "; points\u{240a}elsewhere\n; expected:\nexample.org. IN MX 10 mx.tempmail.example.\n; found:\n\
             ; example.org. IN MX 5 mail.other.example.\n; evil\u{240a}example.org. IN MX 0 x\n"
        );
        assert_eq!(
            in_tsv(&check).lines().collect::<Vec<_>>(),
            [
                "ok\tfalse",
                "expected\texample.org. IN MX 10 mx.tempmail.example.",
                "found\texample.org. IN MX 5 mail.other.example.",
                "found\tevil example.org. IN MX 0 x"
            ]
        );
    }
}
