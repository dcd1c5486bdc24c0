/**
 * The text of a file as its parser found it: one string with the places of pages, headings and blocks in it. Parsers
 * write it through `TextBuilder`; chunk-text.ts cuts it.
 */
import { DbError } from "../../protocol/errors.js";
import { FILE_CHARACTERS_MAX, FILE_TITLE_CHARACTERS_MAX } from "../../protocol/limits.js";

/** A stretch of text under one heading of one page. */
export interface Section {
  readonly start: number;
  readonly end: number;
  /** From 1. */
  readonly page?: number;
  /** Path of headings, joined by " > ". */
  readonly heading?: string;
  /** What is kept whole: sentences of prose, or lines (of code, tables, verse). */
  readonly unit: Unit;
  /** Holds its heading and nothing else. */
  readonly titleOnly: boolean;
}

export type Unit = "sentence" | "line";

export interface ExtractedText {
  readonly text: string;
  /** In order; they do not overlap. What lies between them is white space. */
  readonly sections: readonly Section[];
}

const HEADING_SEPARATOR = " > ";
// Controls that no reader needs, NUL among them, which PostgreSQL's text type refuses, and lone halves of characters.
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for.
const UNFIT = /[\u0000-\u0008\u000b\u000e-\u001f\u007f\p{Surrogate}]/gu;

/** A blank in the place of each character that can neither be stored nor read. */
export function storableText(text: string): string {
  return text.replace(UNFIT, " ");
}

/** Collects a file's text. Throws DbError `file_too_large` beyond `FILE_CHARACTERS_MAX`. */
export class TextBuilder {
  private readonly parts: string[] = [];
  private readonly sections: Section[] = [];
  private readonly headings: { readonly level: number; readonly text: string }[] = [];
  private length = 0;
  private sectionStart = 0;
  private currentPage: number | undefined;
  private unit: Unit = "sentence";
  private titleEnd = -1;

  get characters(): number {
    return this.length;
  }

  /** What follows is of this page, from 1. Headings go on over pages. */
  page(page: number, unit: Unit = "sentence"): void {
    this.closeSection();
    this.currentPage = page;
    this.unit = unit;
  }

  /** Opens a section at `level` (1 is the outermost) with its own text as the first block. */
  heading(level: number, text: string): void {
    const title = text.replace(/\s+/g, " ").trim();
    if (title === "") return;
    this.enter(level, title);
    this.block(title);
    this.titleEnd = this.length;
  }

  /** As `heading`, without adding text: for names that stand beside the text, such as those of sheets. */
  enter(level: number, title: string): void {
    this.closeSection();
    while (this.headings.length > 0 && this.headings.at(-1)!.level >= level) this.headings.pop();
    this.headings.push({ level, text: title.slice(0, FILE_TITLE_CHARACTERS_MAX) });
  }

  /** Keeps lines whole from here on, or sentences. */
  keepWhole(unit: Unit): void {
    if (unit === this.unit) return;
    this.closeSection();
    this.unit = unit;
  }

  /** A paragraph, row group or declaration: a blank line sets it off from what stands before. */
  block(text: string): void {
    const trimmed = text.replace(/^\s*\n/, "").trimEnd();
    if (trimmed === "") return;
    if (this.length > 0) this.add(this.parts.at(-1)!.endsWith("\n") ? "\n" : "\n\n");
    this.add(trimmed);
  }

  /** One line, directly below what stands before. */
  line(text: string): void {
    if (this.length > 0 && !this.parts.at(-1)!.endsWith("\n")) this.add("\n");
    this.add(`${text}\n`);
  }

  /** Sets off the next line by a blank one. */
  gap(): void {
    if (this.length > 0 && !this.parts.at(-1)!.endsWith("\n\n"))
      this.add(this.parts.at(-1)!.endsWith("\n") ? "\n" : "\n\n");
  }

  /** As it stands, character by character. */
  raw(text: string): void {
    this.add(text);
  }

  finish(): ExtractedText {
    this.closeSection();
    return { text: this.parts.join(""), sections: this.sections };
  }

  private add(text: string): void {
    this.length += text.length;
    if (this.length > FILE_CHARACTERS_MAX) {
      throw new DbError("file_too_large", `The file has more than ${FILE_CHARACTERS_MAX} characters of text.`);
    }
    this.parts.push(storableText(text));
  }

  private closeSection(): void {
    if (this.length > this.sectionStart) {
      const heading = this.headings
        .map(({ text }) => text)
        .join(HEADING_SEPARATOR)
        .slice(0, FILE_TITLE_CHARACTERS_MAX);
      this.sections.push({
        start: this.sectionStart,
        end: this.length,
        ...(this.currentPage === undefined ? {} : { page: this.currentPage }),
        ...(heading === "" ? {} : { heading }),
        unit: this.unit,
        titleOnly: this.length === this.titleEnd,
      });
    }
    this.sectionStart = this.length;
  }
}
