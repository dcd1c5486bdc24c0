/**
 * XLSX: a page for each sheet, its rows as lines. Values as they are stored, with dates by the number format of their
 * cell (ECMA-376 part 1, 18.8.30 and 18.17.4); formulas by the value that was saved with them.
 */
import { DbError } from "../../protocol/errors.js";
import { FILE_PAGES_MAX } from "../../protocol/limits.js";
import { type Archive, openArchive } from "./archive.js";
import { neededText, readOfficeProperties, relationsOf } from "./office-properties.js";
import type { ParsedContent, ParserInput } from "./parsed-content.js";
import { readXml } from "./read-xml.js";
import { TableWriter } from "./table-rows.js";

const WORKBOOK = "xl/workbook.xml";
const COLUMNS_MAX = 16_384;
const DAY_MS = 86_400_000;
/** Built-in formats of dates and times. */
const DATE_FORMATS = new Set([14, 15, 16, 17, 18, 19, 20, 21, 22, 27, 30, 36, 45, 46, 47, 50, 57]);

interface Workbook {
  readonly sheets: readonly { readonly name: string; readonly part: string }[];
  readonly texts: readonly string[];
  /** By the index of a cell's style: whether it shows a date. */
  readonly dates: readonly boolean[];
  /** Milliseconds of day 0: 1899-12-30, or 1904-01-01. */
  readonly epochMs: number;
}

export async function parseXlsx({ bytes }: ParserInput, content: ParsedContent): Promise<void> {
  content.mediaType = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet";
  const archive = await openArchive(bytes);
  const workbook = await readWorkbook(archive);
  if (workbook.sheets.length > FILE_PAGES_MAX) {
    throw new DbError(
      "file_too_large",
      `The workbook has ${workbook.sheets.length} sheets; at most ${FILE_PAGES_MAX} are read.`,
    );
  }
  await readOfficeProperties(archive, content);
  content.fact("pages", workbook.sheets.length);
  const facts: unknown[] = [];
  for (const [index, { name, part }] of workbook.sheets.entries()) {
    content.checkTime();
    content.text.page(index + 1, "line");
    content.text.enter(1, name);
    const table = new TableWriter(content);
    readSheet(await neededText(archive, part), workbook, table, () => content.checkTime());
    facts.push({ name, ...table.finish() });
  }
  content.fact("sheets", facts);
}

async function readWorkbook(archive: Archive): Promise<Workbook> {
  const relations = await relationsOf(archive, WORKBOOK);
  const sheets: { name: string; part: string }[] = [];
  let epochMs = Date.UTC(1899, 11, 30);
  readXml(await neededText(archive, WORKBOOK), {
    open(name, attributes) {
      const relation = name === "sheet" ? relations.get(attributes["r:id"] ?? "") : undefined;
      // Sheets of charts have no cells.
      if (relation?.kind === "worksheet") sheets.push({ name: attributes.name ?? "", part: relation.target });
      if (name === "workbookPr" && /^(1|true)$/.test(attributes.date1904 ?? "")) epochMs = Date.UTC(1904, 0, 1);
    },
  });
  return { sheets, texts: await sharedTexts(archive), dates: await dateStyles(archive), epochMs };
}

async function sharedTexts(archive: Archive): Promise<string[]> {
  const texts: string[] = [];
  let open = "";
  let inText = false;
  let phonetic = false;
  readXml((await archive.text("xl/sharedStrings.xml")) ?? "", {
    open(name) {
      if (name === "si") open = "";
      else if (name === "rPh") phonetic = true;
      else if (name === "t") inText = !phonetic;
    },
    text(text) {
      if (inText) open += text;
    },
    close(name) {
      if (name === "t") inText = false;
      else if (name === "rPh") phonetic = false;
      else if (name === "si") texts.push(open);
    },
  });
  return texts;
}

async function dateStyles(archive: Archive): Promise<boolean[]> {
  const custom = new Map<number, boolean>();
  const dates: boolean[] = [];
  let inCells = false;
  readXml((await archive.text("xl/styles.xml")) ?? "", {
    open(name, { numFmtId, formatCode = "" }) {
      if (name === "numFmt") custom.set(Number(numFmtId), isDateFormat(formatCode));
      else if (name === "cellXfs") inCells = true;
      else if (name === "xf" && inCells) {
        const id = Number(numFmtId);
        dates.push(custom.get(id) ?? DATE_FORMATS.has(id));
      }
    },
    close(name) {
      if (name === "cellXfs") inCells = false;
    },
  });
  return dates;
}

/** Letters of dates outside of quotes, brackets and escapes. */
function isDateFormat(code: string): boolean {
  return /[dmyhs]/i.test(code.replace(/"[^"]*"|\[[^\]]*\]|\\.|_./g, "").replace(/general/gi, ""));
}

function readSheet(xml: string, workbook: Workbook, table: TableWriter, between: () => void): void {
  let row: string[] = [];
  let cell: { column: number; type: string; style: number; value: string } | null = null;
  let inValue = false;
  readXml(
    xml,
    {
      open(name, attributes) {
        if (name === "row") row = [];
        else if (name === "c") {
          const column = columnOf(attributes.r) ?? row.length;
          cell = { column, type: attributes.t ?? "n", style: Number(attributes.s ?? -1), value: "" };
        } else if (name === "v" || name === "t") inValue = true;
      },
      text(text) {
        if (inValue && cell !== null) cell.value += text;
      },
      close(name) {
        if (name === "v" || name === "t") inValue = false;
        else if (name === "c" && cell !== null) {
          while (row.length < cell.column) row.push("");
          row[cell.column] = shown(cell, workbook);
          cell = null;
        } else if (name === "row") table.row(row);
      },
    },
    between,
  );
}

/** From 0; null when the reference is not given. Throws DbError `file_corrupt` beyond the columns of a sheet. */
function columnOf(reference: string | undefined): number | null {
  const letters = /^[A-Z]+/.exec(reference ?? "")?.[0];
  if (letters === undefined) return null;
  let column = 0;
  for (const letter of letters.slice(0, 6)) column = column * 26 + letter.charCodeAt(0) - 64;
  if (column > COLUMNS_MAX) throw new DbError("file_corrupt", `There is no column ${letters} in a sheet.`);
  return column - 1;
}

function shown({ type, style, value }: { type: string; style: number; value: string }, workbook: Workbook): string {
  if (type === "s") return workbook.texts[Number(value)] ?? "";
  if (type === "b") return value === "1" ? "true" : "false";
  if (type !== "n" || value === "" || workbook.dates[style] !== true) return value;
  const days = Number(value);
  const moment = new Date(workbook.epochMs + Math.round(days * DAY_MS));
  if (!Number.isFinite(days) || Number.isNaN(moment.getTime())) return value;
  const iso = moment.toISOString();
  if (days < 1) return iso.slice(11, 19);
  return Number.isInteger(days) ? iso.slice(0, 10) : iso.slice(0, 19).replace("T", " ");
}
