//! Pictures one after another at the same place of a terminal, below lines that stay.
//!
//! Neither the alternate screen nor raw mode nor a hidden cursor: a picture is written over the one before it by going
//! up as many rows, and the cursor rests below it. So there is nothing to restore, even after `kill -9`, what was
//! finished stays in the scrollback, and nothing is read from the terminal. What comes from outside is made harmless here,
//! on its way out, whoever put it into a line or a picture; what steers the terminal is ours alone.

use std::fmt::Write;

use anstyle::{AnsiColor, Effects};
use ratatui::buffer::{Buffer, Cell};
use ratatui::style::{Color, Modifier, Style};
use unicode_width::UnicodeWidthStr;

/// Have the terminal show all of what comes between the two at once, where it knows them.
const BEGIN: &str = "\x1b[?2026h";
const END: &str = "\x1b[?2026l";
/// Erase from the cursor to the end of the line, and of the screen.
const ERASE_LINE: &str = "\x1b[K";
const ERASE_BELOW: &str = "\x1b[J";

/// What stands at the bottom of a terminal.
#[derive(Debug, Clone, Default)]
pub struct Inline {
    /// The columns of each line of the picture.
    drawn: Vec<u16>,
    colour: bool,
}

impl Inline {
    /// Nothing was drawn yet.
    pub const fn new(colour: bool) -> Self {
        Self { drawn: Vec::new(), colour }
    }

    /// What to write to have `lines` stay and `picture` below them, on a terminal with so many columns.
    pub fn update(&mut self, lines: &[String], picture: &Buffer, columns: u16) -> String {
        let mut text = format!("{BEGIN}{}", self.back(columns));
        // Writing into a String cannot fail.
        for line in lines {
            let line = plain::text(line).replace('\n', &format!("{ERASE_LINE}\r\n"));
            let _ = write!(text, "{line}{ERASE_LINE}\r\n");
        }
        self.drawn.clear();
        for row in 0..picture.area.height {
            let columns = self.row(&mut text, picture, row);
            self.drawn.push(columns);
            let _ = write!(text, "{ERASE_LINE}\r\n");
        }
        let _ = write!(text, "{ERASE_BELOW}{END}");
        text
    }

    /// What to write to have `lines` stay and no picture.
    pub fn erase(&mut self, lines: &[String], columns: u16) -> String {
        let mut text = format!("{}{ERASE_BELOW}", self.back(columns));
        self.drawn.clear();
        for line in lines {
            let _ = write!(text, "{}\r\n", plain::text(line).replace('\n', "\r\n"));
        }
        text
    }

    /// To the first row of the picture. A line that is longer than the terminal is now was broken into several rows.
    fn back(&self, columns: u16) -> String {
        let rows: u32 = self.drawn.iter().map(|drawn| u32::from(drawn.div_ceil(columns.max(1)).max(1))).sum();
        if rows == 0 { "\r".into() } else { format!("\r\x1b[{rows}A") }
    }

    /// Writes a row, without the blanks at its end; gives the columns that it takes.
    fn row(&self, text: &mut String, picture: &Buffer, row: u16) -> u16 {
        let area = picture.area;
        let cells: Vec<&Cell> =
            (area.left()..area.right()).filter_map(|x| picture.cell((x, area.y + row))).collect();
        let end = cells.iter().rposition(|cell| !is_blank(cell)).map_or(0, |last| last + 1);
        let (mut columns, mut style, mut skip) = (0, Style::new(), 0);
        for cell in &cells[..end] {
            // What follows a wide character is hidden by it.
            if skip > 0 {
                skip -= 1;
                continue;
            }
            let wanted = if self.colour { Style::new().patch(cell.style()) } else { Style::new() };
            if wanted != style {
                let _ = write!(text, "{}{}", anstyle::Reset.render(), ansi(wanted).render());
                style = wanted;
            }
            text.push_str(&plain::text(cell.symbol()));
            let width = cell.symbol().width().max(1) as u16;
            skip = width - 1;
            columns += width;
        }
        if style != Style::new() {
            let _ = write!(text, "{}", anstyle::Reset.render());
        }
        columns
    }
}

fn is_blank(cell: &Cell) -> bool {
    cell.symbol() == " " && !cell.modifier.contains(Modifier::REVERSED)
}

/// The few styles that the picture has.
fn ansi(style: Style) -> anstyle::Style {
    let colour = match style.fg {
        Some(Color::Red) => Some(AnsiColor::Red),
        Some(Color::Green) => Some(AnsiColor::Green),
        Some(Color::Yellow) => Some(AnsiColor::Yellow),
        Some(Color::Cyan) => Some(AnsiColor::Cyan),
        Some(Color::DarkGray) => Some(AnsiColor::BrightBlack),
        _ => None,
    };
    let effects = [(Modifier::BOLD, Effects::BOLD), (Modifier::REVERSED, Effects::INVERT)];
    let effects = effects.into_iter().filter(|(has, _)| style.add_modifier.contains(*has));
    let effects = effects.fold(Effects::new(), |all, (_, effect)| all | effect);
    anstyle::Style::new().fg_color(colour.map(Into::into)).effects(effects)
}

#[cfg(test)]
mod tests {
    use ratatui::layout::Rect;

    use super::*;

    fn picture(lines: &[&str], columns: u16) -> Buffer {
        let mut buffer = Buffer::empty(Rect::new(0, 0, columns, lines.len() as u16));
        for (row, line) in lines.iter().enumerate() {
            buffer.set_string(0, row as u16, line, Style::new());
        }
        buffer
    }

    /// The rows of a terminal of that size, without blank ones at the end.
    fn screen(texts: &[String], rows: u16, columns: u16) -> Vec<String> {
        let mut terminal = vt100::Parser::new(rows, columns, 1000);
        for text in texts {
            terminal.process(text.as_bytes());
        }
        let mut rows: Vec<String> =
            terminal.screen().rows(0, columns).map(|row| row.trim_end().to_owned()).collect();
        while rows.last().is_some_and(String::is_empty) {
            rows.pop();
        }
        rows
    }

    #[test]
    fn a_picture_replaces_the_one_before_it_below_lines_that_stay() {
        let mut inline = Inline::new(true);
        let mut texts = vec![inline.update(&[], &picture(&["old one", "old two", "old three"], 20), 20)];
        texts.push(inline.update(&["stays".into()], &picture(&["new"], 20), 20));
        texts.push(inline.update(
            &["stays, too\n    indented".into()],
            &picture(&["newer", "名前x"], 20),
            20,
        ));
        assert_eq!(screen(&texts, 10, 20), ["stays", "stays, too", "    indented", "newer", "名前x"]);
        texts.push(inline.erase(&["end".into()], 20));
        assert_eq!(screen(&texts, 10, 20), ["stays", "stays, too", "    indented", "end"]);
        assert_eq!(inline.erase(&[], 20), "\r\x1b[J", "there is nothing to go back over");
    }

    #[test]
    fn at_the_bottom_of_the_screen_what_stays_scrolls_and_the_picture_does_not() {
        let mut inline = Inline::new(false);
        let texts: Vec<String> = (0..20)
            .map(|number| inline.update(&[format!("line {number}")], &picture(&["a", "b"], 20), 20))
            .collect();
        assert_eq!(screen(&texts, 6, 20), ["line 17", "line 18", "line 19", "a", "b"]);
    }

    /// A terminal that got narrower has broken the picture's lines, and each takes more rows.
    #[test]
    fn a_terminal_that_got_narrower_is_reckoned_with() {
        let mut inline = Inline::new(false);
        let _ = inline.update(&[], &picture(&["x".repeat(40).as_str(), "y"], 60), 60);
        assert!(inline.update(&[], &picture(&["z"], 30), 30).contains("\r\x1b[3A"));
    }

    #[test]
    fn nothing_in_a_line_or_a_picture_steers_the_terminal() {
        let mut inline = Inline::new(true);
        let mut hostile = picture(&["x"], 20);
        hostile[(0, 0)].set_symbol("\u{9b}2J");
        let texts = [
            inline.update(&["\u{1b}[2Jfirst\rover\u{202e}".into()], &hostile, 20),
            inline.erase(&["\u{1b}]0;title\u{7}last".into()], 20),
        ];
        for text in &texts {
            assert!(
                !text.contains("\u{1b}[2J") && !text.contains(['\u{9b}', '\u{7}', '\u{202e}']),
                "{text:?}"
            );
        }
        assert!(screen(&texts, 9, 60)[0].starts_with("\\u{1b}[2Jfirst\\rover"));
    }

    #[test]
    fn colours_are_left_out_where_they_are_not_wanted_and_end_with_their_line() {
        let mut coloured = picture(&["red"], 5);
        coloured.set_style(Rect::new(0, 0, 3, 1), Style::new().fg(Color::Red).add_modifier(Modifier::BOLD));
        let with = Inline::new(true).update(&[], &coloured, 5);
        assert!(with.contains("\x1b[31m") && with.contains("red\x1b[0m"), "{with:?}");
        let without = Inline::new(false).update(&[], &coloured, 5);
        assert!(!without.contains('m'), "{without:?}");
    }
}
