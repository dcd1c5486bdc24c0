/**
 * PDF by pdf.js: text page by page, with lines and paragraphs by where they stand; pages without text are read as
 * images when asked for, if this installation has the canvas that pdf.js draws them with. Nothing in the file is run or
 * fetched.
 */
import { createRequire } from "node:module";
import { dirname, join, sep } from "node:path";
import type { PDFDocumentProxy, PDFPageProxy } from "pdfjs-dist/legacy/build/pdf.mjs";
import { DbError } from "../../protocol/errors.js";
import { FILE_PAGES_MAX, IMAGE_PIXELS_MAX } from "../../protocol/limits.js";
import { readImageText } from "../image/read-text.js";
import { BufferBudget } from "./buffer-budget.js";
import type { ParsedContent, ParserInput } from "./parsed-content.js";
import { type PlacedText, pageText } from "./pdf-page-text.js";

/** Where a PDF's own start may stand, since some writers put other bytes before it. */
const HEADER_WITHIN_BYTES = 1024;
/** Pixels of the longer side of a page that is read as an image: about 200 per inch of A4. */
const PAGE_PIXELS = 2300;
const PAGES_READ_AS_IMAGES_MAX = 200;

const FACTS: Readonly<Record<string, string>> = {
  Author: "author",
  Subject: "subject",
  Keywords: "keywords",
  Creator: "creator",
  Producer: "producer",
};

export async function parsePdf(input: ParserInput, content: ParsedContent): Promise<void> {
  const budget = new BufferBudget();
  await budget.during(() => readPdf(input, budget, content));
}

async function readPdf({ bytes, job }: ParserInput, budget: BufferBudget, content: ParsedContent): Promise<void> {
  content.mediaType = "application/pdf";
  if (!bytes.subarray(0, HEADER_WITHIN_BYTES).includes("%PDF-")) {
    throw new DbError("file_corrupt", "The file is named as PDF, but its content is not.");
  }
  const task = await load(bytes);
  try {
    const document = await task.promise.catch((error: Error) => {
      throw error.name === "PasswordException" ? new DbError("file_encrypted") : error;
    });
    if (document.numPages > FILE_PAGES_MAX) {
      throw new DbError(
        "file_too_large",
        `The PDF has ${document.numPages} pages; at most ${FILE_PAGES_MAX} are read.`,
      );
    }
    await readFacts(document, content);
    const blank = await readPages(document, budget, content);
    if (blank.length > 0) await readBlankPages(document, blank, budget, job.ocrImages, content);
  } finally {
    await task.destroy();
  }
}

async function load(bytes: Buffer) {
  const pdf = await import("pdfjs-dist/legacy/build/pdf.mjs");
  const folder = dirname(createRequire(import.meta.url).resolve("pdfjs-dist/package.json"));
  return pdf.getDocument({
    // pdf.js takes the buffer for itself.
    data: new Uint8Array(bytes),
    verbosity: pdf.VerbosityLevel.ERRORS,
    isEvalSupported: false,
    enableXfa: false,
    stopAtErrors: false,
    disableFontFace: true,
    useSystemFonts: false,
    maxImageSize: IMAGE_PIXELS_MAX,
    cMapUrl: join(folder, "cmaps") + sep,
    cMapPacked: true,
    standardFontDataUrl: join(folder, "standard_fonts") + sep,
    wasmUrl: join(folder, "wasm") + sep,
  });
}

async function readFacts(document: PDFDocumentProxy, content: ParsedContent): Promise<void> {
  content.fact("pages", document.numPages);
  const info = (await document.getMetadata()).info as Readonly<Record<string, unknown>>;
  if (typeof info.Title === "string") content.setTitle(info.Title);
  for (const [name, fact] of Object.entries(FACTS)) {
    const value = info[name];
    if (typeof value === "string") content.fact(fact, value);
  }
  content.fact("created", isoDate(info.CreationDate));
  content.fact("modified", isoDate(info.ModDate));
}

/** Answers the pages that have no text. */
async function readPages(document: PDFDocumentProxy, budget: BufferBudget, content: ParsedContent): Promise<number[]> {
  const blank: number[] = [];
  for (let number = 1; number <= document.numPages; number++) {
    content.checkTime();
    const page = await document.getPage(number);
    const { items } = await page.getTextContent();
    const text = pageText(items.filter((item) => "str" in item) as PlacedText[]);
    page.cleanup();
    budget.nextPage();
    if (text === "") {
      blank.push(number);
      continue;
    }
    content.text.page(number);
    content.text.block(text);
  }
  return blank;
}

async function readBlankPages(
  document: PDFDocumentProxy,
  blank: readonly number[],
  budget: BufferBudget,
  asked: boolean,
  content: ParsedContent,
): Promise<void> {
  const what = `${blank.length} of ${document.numPages} pages have no text`;
  if (!asked) {
    content.notes.push(`ocr: not asked for: ${what}`);
    return;
  }
  for (const number of blank.slice(0, PAGES_READ_AS_IMAGES_MAX)) {
    content.checkTime();
    const image = await drawPage(await document.getPage(number), document);
    budget.nextPage();
    if (image === null) {
      content.notes.push(`ocr: not available: ${what}; install the package @napi-rs/canvas to draw them`);
      return;
    }
    const { text } = await readImageText(image, { timeoutMs: content.remainingMs });
    if (text === "") continue;
    content.text.page(number);
    content.text.block(text);
  }
  content.fact("pages_read_as_images", Math.min(blank.length, PAGES_READ_AS_IMAGES_MAX));
  if (blank.length > PAGES_READ_AS_IMAGES_MAX) {
    content.notes.push(`ocr: ${what}; the first ${PAGES_READ_AS_IMAGES_MAX} of them were read`);
  }
}

interface Canvas {
  readonly canvas: { toBuffer(type: "image/png"): Buffer };
  readonly context: unknown;
}

/** PNG; null when pdf.js finds no canvas here. */
async function drawPage(page: PDFPageProxy, document: PDFDocumentProxy): Promise<Uint8Array | null> {
  const { width, height } = page.getViewport({ scale: 1 });
  const viewport = page.getViewport({ scale: PAGE_PIXELS / Math.max(width, height, 1) });
  const factory = document.canvasFactory as { create(width: number, height: number): Canvas };
  let canvas: Canvas;
  try {
    canvas = factory.create(Math.max(1, Math.ceil(viewport.width)), Math.max(1, Math.ceil(viewport.height)));
  } catch {
    return null;
  }
  await page.render({ canvas: null, canvasContext: canvas.context as never, viewport }).promise;
  page.cleanup();
  return canvas.canvas.toBuffer("image/png");
}

/** `D:20240506070809+02'00'` as ISO 8601 (ISO 32000-1, 7.9.4). */
function isoDate(value: unknown): string | null {
  const parts = /^D:(\d{4})(\d{2})?(\d{2})?(\d{2})?(\d{2})?(\d{2})?(?:(Z)|([+-]\d{2})'?(\d{2})?)?/.exec(
    String(value ?? ""),
  );
  if (parts === null) return null;
  const [, year, month = "01", day = "01", hour = "00", minute = "00", second = "00", utc, zone, zoneMinutes = "00"] =
    parts;
  const offset = zone === undefined ? (utc ?? "") : `${zone}:${zoneMinutes}`;
  return `${year}-${month}-${day}T${hour}:${minute}:${second}${offset}`;
}
