/** What several sections ask of a document: which look a stack has, how a table is called, which trial is chosen. */

import type { Cell, Driver, Page, Table } from "./model.ts";
import { styleOf, type Style } from "./charts/styles.ts";
import { sentence, t } from "./strings.ts";

export interface View {
  page: Page;
  /** The table whose percentiles are drawn. */
  table: number;
  /** The cell whose trial is drawn over time. */
  cell: number;
  withWarmUp: boolean;
  styles: Map<string, Style>;
  /** Shows another trial. */
  choose(cell: number): void;
}

/** A look for each stack, the same in all charts; those that rank first in the first tables come first. */
export function stylesOf(page: Page): Map<string, Style> {
  const styles = new Map<string, Style>();
  const add = (stack: string) => {
    if (!styles.has(stack)) styles.set(stack, styleOf(styles.size));
  };
  for (const table of page.tables) for (const row of table.rows) add(row.stack);
  for (const sweep of page.sweeps) for (const series of sweep.series) add(series.stack);
  for (const cell of page.cells) add(cell.why.stack);
  return styles;
}

/** The look of a stack. */
export function styleFor(view: View, stack: string): Style {
  return view.styles.get(stack) ?? styleOf(0);
}

/** A table's name: its round, its load, and its driver where that is not our own. */
export function tableName(it: { round: string; load: string; driver?: Driver | undefined }): string {
  const name = t("table_heading", { round: it.round, load: sentence(it.load) });
  return it.driver && it.driver !== "proofload" ? `${name}${t("comma")}${t("by_driver", { driver: driverName(it.driver) })}` : name;
}

export function driverName(driver: Driver): string {
  return driver === "jmeter" ? "JMeter" : driver;
}

/** The cells of no table, by their indices. */
export function untabled({ tables, cells }: Page): number[] {
  const ranked = new Set(tables.flatMap((table) => table.rows.map((row) => row.cell)));
  return cells.map((_, index) => index).filter((index) => !ranked.has(index));
}

/** The cells of a table, best first, with their indices. */
export function cellsOf(page: Page, table: Table | undefined): { index: number; cell: Cell }[] {
  return (table?.rows ?? []).flatMap((row) => {
    const cell = page.cells[row.cell];
    return cell ? [{ index: row.cell, cell }] : [];
  });
}
