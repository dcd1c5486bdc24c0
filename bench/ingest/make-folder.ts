/**
 * A folder of mixed real files to ingest, the same for the same seed and machine: documentation that the system's
 * packages installed (texts, HTML, Markdown, XML, source code, as they are or unpacked), and documents made by the
 * libraries that people make them with (PDF, DOCX, PPTX, XLSX, CSV, JSON, messages, books, images of words). Also tells
 * passages that a search has to find, with the file and page where each stands.
 *
 *   node dist/bench/ingest/make-folder.js FOLDER [files, 320 unless said] [seed]
 *
 * writes FOLDER and FOLDER.passages.json. Used by bench/ingest/parse-rates.ts and by tests of filesystem collections.
 */
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { basename, dirname, extname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { gunzipSync } from "node:zlib";
import {
  makeDocx,
  makeEmail,
  makeEpub,
  makePdf,
  makePptx,
  makeXlsx,
  type Passage,
} from "../../test/ingest/sample-files.js";
import { imageOfWords, svgHasFonts } from "../../test/ingest/sample-images.js";

export interface KnownPassage {
  /** Path below the folder. */
  readonly file: string;
  /** Words that stand in no other file. */
  readonly text: string;
  /** Page, slide or sheet, from 1. */
  readonly page?: number;
  /** Only found where the words in images are read. */
  readonly ocr: boolean;
}

export interface MadeFolder {
  /** Paths below the folder. */
  readonly files: readonly string[];
  readonly passages: readonly KnownPassage[];
}

const ROOTS = ["/usr/share/doc", "/usr/share/common-licenses", "/usr/share/perl", "/usr/share/perl5", "/usr/share/awk"];
const EXTENSIONS = new Set(".txt .md .html .xml .rst .css .js .py .sh .pl .pm .c .h .awk .conf .json .csv".split(" "));
const COPIED_BYTES_MAX = 128 * 1024;
const COPIED_BYTES_MIN = 300;
/** Of the files; the rest is made. */
const COPIED_SHARE = 0.6;

const PLACES =
  "Aldermoor Brisket Calloway Dunmere Eskdale Farrowby Glenhaven Hartwell Inverlee Juniper Kestrel Larkspur".split(" ");
const THINGS =
  "lanterns barrels kettles ledgers anchors saddles violins compasses beehives looms millstones telescopes".split(" ");
const PEOPLE =
  "miller ferryman astronomer beekeeper cartographer glassblower organist surveyor weaver apothecary".split(" ");
const DEEDS = "repaired counted borrowed painted auctioned inherited catalogued polished buried exchanged".split(" ");
const TIMES =
  "at dawn, before the harvest, during the long frost, after the spring flood, on market day, in the dry summer".split(
    ", ",
  );

class Random {
  constructor(private state: number) {}

  /** mulberry32. */
  below(limit: number): number {
    this.state = (this.state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(this.state ^ (this.state >>> 15), 1 | this.state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) % limit;
  }

  of<T>(items: readonly T[]): T {
    return items[this.below(items.length)]!;
  }

  shuffled<T>(items: readonly T[]): T[] {
    const list = [...items];
    for (let at = list.length - 1; at > 0; at--) {
      const other = this.below(at + 1);
      [list[at], list[other]] = [list[other]!, list[at]!];
    }
    return list;
  }
}

/** The folder is made anew: there must be none at `folder`. */
export async function makeFolder(folder: string, { files = 320, seed = 1 } = {}): Promise<MadeFolder> {
  mkdirSync(folder);
  const random = new Random(seed);
  const made: string[] = [];
  const passages: KnownPassage[] = [];
  const write = (file: string, content: string | Uint8Array): void => {
    mkdirSync(dirname(join(folder, file)), { recursive: true });
    writeFileSync(join(folder, file), content);
    made.push(file);
  };
  copyDocumentation(Math.floor(files * COPIED_SHARE), random, write);
  const makers = await makersOfDocuments();
  for (let index = 0; made.length < files; index++) {
    const { folder: below, extension, make } = makers[index % makers.length]!;
    const file = `${below}/${String(index).padStart(3, "0")}.${extension}`;
    // The number of the file makes its passages unlike all others.
    const told = Array.from({ length: 1 + random.below(4) }, (_, page) => tell(random, index * 10 + page + 1000));
    const { content, pages, ocr = false } = await make(told, random);
    write(file, content);
    const at = pages ? random.below(told.length) : 0;
    passages.push({ file, text: keyOf(told[at]!), ...(pages ? { page: at + 1 } : {}), ocr });
  }
  return { files: made, passages };
}

function copyDocumentation(count: number, random: Random, write: (file: string, content: Uint8Array) => void): void {
  const found = random.shuffled(ROOTS.filter((root) => existsSync(root)).flatMap(filesBelow));
  const seen = new Set<string>();
  let written = 0;
  for (const path of found) {
    if (written >= count) return;
    const packed = path.endsWith(".gz");
    const name = packed ? path.slice(0, -3) : path;
    const extension = extname(name).toLowerCase();
    // Changelogs and the like have no extension, or one that is a part of their name.
    const target = EXTENSIONS.has(extension) ? name : `${name}.txt`;
    const content = packed ? gunzipSync(readFileSync(path)) : readFileSync(path);
    if (content.length < COPIED_BYTES_MIN || content.length > COPIED_BYTES_MAX || content.includes(0)) continue;
    const file = `system/${extname(target).slice(1)}/${basename(dirname(path))}-${basename(target)}`;
    if (seen.has(file)) continue;
    seen.add(file);
    write(file, content);
    written++;
  }
}

/** In a stable order; without links. */
function filesBelow(root: string): string[] {
  const entries = readdirSync(root, { recursive: true, withFileTypes: true });
  const paths = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  return paths
    .filter((path) => EXTENSIONS.has(extname(path)) || path.endsWith(".gz") || /\/(copyright|README|NEWS)$/.test(path))
    .filter((path) => statSync(path).size <= COPIED_BYTES_MAX)
    .sort();
}

interface Maker {
  readonly folder: string;
  readonly extension: string;
  readonly make: (
    told: readonly Passage[],
    random: Random,
  ) => Promise<{ content: string | Uint8Array; pages: boolean; ocr?: boolean }>;
}

async function makersOfDocuments(): Promise<Maker[]> {
  const maker = (folder: string, extension: string, make: Maker["make"]): Maker => ({ folder, extension, make });
  const makers = [
    maker("reports", "pdf", async (told) => ({ content: await makePdf(told[0]!.heading, told), pages: true })),
    maker("letters", "docx", async (told) => ({ content: await makeDocx(told[0]!.heading, told), pages: false })),
    maker("talks", "pptx", async (told) => ({ content: await makePptx(told[0]!.heading, told), pages: true })),
    maker("mail", "eml", async (told) => ({ content: makeEmail(told[0]!.heading, told[0]!.text), pages: false })),
    maker("books", "epub", async (told) => ({ content: await makeEpub(told[0]!.heading, told), pages: true })),
    maker("tables", "xlsx", async (told, random) => ({
      content: await makeXlsx("Stock", rowsOf(told, random)),
      pages: false,
    })),
    maker("tables", "csv", async (told, random) => ({ content: csvOf(rowsOf(told, random)), pages: false })),
    maker("data", "json", async (told) => ({ content: JSON.stringify(told, null, 1), pages: false })),
    maker("notes", "md", async (told) => ({ content: markdownOf(told), pages: false })),
  ];
  if (!(await svgHasFonts())) return makers;
  const scan = async (told: readonly Passage[]) => {
    const words = keyOf(told[0]!).split(" ");
    const lines = [words.slice(0, 5), words.slice(5, 9), words.slice(9)].map((line) => line.join(" "));
    return { content: await imageOfWords(lines.filter((line) => line !== "")), pages: false, ocr: true };
  };
  return [...makers, maker("scans", "png", scan)];
}

/** A passage whose first sentence stands nowhere else. */
function tell(random: Random, number: number): Passage {
  const sentence = (count: number): string =>
    `The ${random.of(PEOPLE)} of ${random.of(PLACES)} ${random.of(DEEDS)} ${count} ${random.of(THINGS)} ${random.of(TIMES)}.`;
  const others = Array.from({ length: 4 + random.below(20) }, () => sentence(2 + random.below(90)));
  return { heading: `${random.of(PLACES)} in year ${number}`, text: [sentence(number), ...others].join(" ") };
}

function keyOf({ text }: Passage): string {
  return text.slice(0, text.indexOf(".") + 1);
}

function rowsOf(told: readonly Passage[], random: Random): (string | number | Date)[][] {
  const rows = told.map((passage) => [
    keyOf(passage),
    new Date(Date.UTC(1990 + random.below(30), random.below(12), 5)),
    random.below(500),
  ]);
  return [["Event", "Date", "Price"], ...rows];
}

function csvOf(rows: readonly (string | number | Date)[][]): string {
  const cell = (value: string | number | Date): string =>
    value instanceof Date ? value.toISOString().slice(0, 10) : `"${String(value).replaceAll('"', '""')}"`;
  return `${rows.map((row) => row.map(cell).join(",")).join("\r\n")}\r\n`;
}

function markdownOf(told: readonly Passage[]): string {
  return told.map(({ heading, text }, index) => `${index === 0 ? "#" : "##"} ${heading}\n\n${text}\n`).join("\n");
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [folder, files = "320", seed = "1"] = process.argv.slice(2);
  if (folder === undefined) throw new Error("name the folder to make");
  const made = await makeFolder(folder, { files: Number(files), seed: Number(seed) });
  writeFileSync(`${folder}.passages.json`, JSON.stringify(made.passages, null, 1));
  console.log(`${made.files.length} files, ${made.passages.length} known passages`);
}
