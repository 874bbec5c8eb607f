use super::*;

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Line {
    id: String,
    received_at: Option<String>,
    subject: String,
}

impl Row for Line {
    const HEADINGS: &'static [&'static str] = &["ID", "RECEIVED", "SUBJECT"];
    const NARROW: &'static [Narrow] = &[Narrow::Cut(2, 10), Narrow::Omit(1)];

    fn cells(&self) -> Vec<Cell> {
        vec![Cell::Id(self.id.clone()), Cell::Time(self.received_at.clone()), Cell::Text(self.subject.clone())]
    }

    fn id(&self) -> String {
        self.id.clone()
    }
}

const NOW: Timestamp = Timestamp::from_millis(1_700_000_000_000);

fn lines(subject: &str) -> Vec<Line> {
    vec![
        Line {
            id: "0190b6a5-7c3e-7d2f-8a4b-1c5d9e0f2a3b".to_owned(),
            received_at: Some("2023-11-14 22:10:00".to_owned()),
            subject: subject.to_owned(),
        },
        Line { id: "b".to_owned(), received_at: None, subject: String::new() },
    ]
}

fn shown(style: Style, subject: &str) -> String {
    list(style, &lines(subject), &lines(subject), NOW)
}

const PIPE: Style = Style { is_terminal: false, is_colored: false, width: None, format: None };
const TERMINAL: Style = Style { is_terminal: true, is_colored: false, width: Some(80), format: None };

#[test]
fn a_pipe_gets_tab_separated_lines() {
    let id = "0190b6a5-7c3e-7d2f-8a4b-1c5d9e0f2a3b";
    assert_eq!(shown(PIPE, "a\tb\r\nc"), format!("{id}\t2023-11-14T22:10:00Z\ta b  c\nb\t\t\n"));
}

#[test]
fn a_terminal_gets_a_table_that_fits_it() {
    let subject = "a very long subject that goes on and on, far beyond the right edge of the terminal";
    for width in [20, 40, 60, 80, 200] {
        let table = shown(Style { width: Some(width), ..TERMINAL }, subject);
        let widest = table.lines().map(|line| line.chars().count()).max().unwrap_or(0);
        assert!(widest <= usize::from(width), "{width}:\n{table}");
        assert_eq!(table.lines().count(), 3, "{table}");
        assert!(table.starts_with("ID"), "{table}");
    }
    let table = shown(TERMINAL, subject);
    assert!(table.contains("9e0f2a3b  3 min ago  a very long subject"), "{table}");
    assert!(table.lines().any(|line| line.ends_with('…') && line.chars().count() > 75), "{table}");
    let narrow = shown(Style { width: Some(20), ..TERMINAL }, subject);
    assert_eq!(narrow, "ID        SUBJECT\n9e0f2a3b  a very lo…\nb\n");
}

#[test]
fn a_table_shows_control_characters_and_never_emits_them() {
    let table = shown(TERMINAL, "\u{1b}[2J\r\nx");
    assert!(table.contains("␛[2J␍␊x"), "{table}");
    assert!(!table.contains('\u{1b}'));
}

#[test]
fn colours_are_used_when_asked_for() {
    assert!(shown(Style { is_colored: true, ..TERMINAL }, "s").contains('\u{1b}'));
    assert!(!shown(TERMINAL, "s").contains('\u{1b}'));
    assert_eq!(TERMINAL.paint("1", "x"), "x");
}

#[test]
fn an_empty_list_prints_nothing_but_json() {
    let none: [Line; 0] = [];
    for format in [Format::Table, Format::Tsv, Format::Ndjson, Format::Id] {
        assert_eq!(list(Style { format: Some(format), ..PIPE }, &none, &none, NOW), "", "{format:?}");
    }
    assert_eq!(list(Style { format: Some(Format::Json), ..PIPE }, &none, &none, NOW), "[]\n");
}

#[test]
fn each_form_shows_the_same_rows() {
    let of = |format| shown(Style { format: Some(format), ..PIPE }, "s\u{9b}");
    assert_eq!(of(Format::Id), "0190b6a5-7c3e-7d2f-8a4b-1c5d9e0f2a3b\nb\n");
    assert_eq!(of(Format::Ndjson).lines().count(), 2);
    assert!(of(Format::Ndjson).contains(r#""receivedAt":"2023-11-14 22:10:00","subject":"s\u009b""#));
    let json: serde_json::Value = serde_json::from_str(&of(Format::Json)).expect("json");
    assert_eq!(json[1]["id"], "b");
}

#[test]
fn pairs_are_aligned_for_people_and_tabbed_for_programs() {
    let given = [("version", Cell::Text("1".to_owned())), ("a", Cell::Number(2))];
    assert_eq!(pairs(TERMINAL, &given, NOW), "version  1\na        2\n");
    assert_eq!(pairs(PIPE, &given, NOW), "version\t1\na\t2\n");
}
