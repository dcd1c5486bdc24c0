/** Documents of each kind that tests and benches of ingestion make, by the libraries that people make them with. */
import { once } from "node:events";
import { Document, HeadingLevel, Packer, Paragraph, Table, TableCell, TableRow } from "docx";
import PDFDocument from "pdfkit";
import pptxgen from "pptxgenjs";
import { ZipFile } from "yazl";

export interface Passage {
  readonly heading: string;
  readonly text: string;
}

export async function makeDocx(
  title: string,
  passages: readonly Passage[],
  rows: readonly string[][] = [],
): Promise<Buffer> {
  const cells = (row: readonly string[]) => row.map((text) => new TableCell({ children: [new Paragraph(text)] }));
  const table =
    rows.length === 0 ? [] : [new Table({ rows: rows.map((row) => new TableRow({ children: cells(row) })) })];
  const children = passages.flatMap(({ heading, text }) => [
    new Paragraph({ text: heading, heading: HeadingLevel.HEADING_1 }),
    new Paragraph(text),
  ]);
  const document = new Document({ title, creator: "Sample Author", sections: [{ children: [...children, ...table] }] });
  return Packer.toBuffer(document);
}

/** A page for each passage. */
export async function makePdf(
  title: string,
  passages: readonly Passage[],
  options: PDFKit.PDFDocumentOptions = {},
): Promise<Buffer> {
  const info = { Title: title, Author: "Sample Author", CreationDate: new Date(Date.UTC(2024, 0, 2)) };
  const document = new PDFDocument({ autoFirstPage: false, ...options, info });
  const parts: Buffer[] = [];
  document.on("data", (part: Buffer) => parts.push(part));
  for (const { heading, text } of passages) {
    document.addPage();
    document.fontSize(18).text(heading).moveDown().fontSize(11).text(text);
  }
  const ended = once(document, "end");
  document.end();
  await ended;
  return Buffer.concat(parts);
}

/** A page that is an image. */
export async function makeScan(image: Buffer): Promise<Buffer> {
  const document = new PDFDocument();
  const parts: Buffer[] = [];
  document.on("data", (part: Buffer) => parts.push(part));
  document.image(image, 40, 40, { width: 500 });
  const ended = once(document, "end");
  document.end();
  await ended;
  return Buffer.concat(parts);
}

export async function makePptx(
  title: string,
  slides: readonly (Passage & { readonly notes?: string })[],
): Promise<Buffer> {
  const Presentation = pptxgen as unknown as new () => pptxgen.default;
  const presentation = new Presentation();
  presentation.title = title;
  presentation.author = "Sample Author";
  presentation.defineSlideMaster({
    title: "PLAIN",
    objects: [{ placeholder: { options: { name: "title", type: "title", x: 0.5, y: 0.2, w: 9, h: 1 }, text: "" } }],
  });
  for (const { heading, text, notes } of slides) {
    const slide = presentation.addSlide({ masterName: "PLAIN" });
    slide.addText(heading, { placeholder: "title" });
    slide.addText(text, { x: 0.5, y: 1.5, w: 9, h: 3 });
    if (notes !== undefined) slide.addNotes(notes);
  }
  return (await presentation.write({ outputType: "nodebuffer" })) as Buffer;
}

export async function makeZip(entries: Readonly<Record<string, string | Buffer>>): Promise<Buffer> {
  const zip = new ZipFile();
  for (const [name, content] of Object.entries(entries))
    zip.addBuffer(Buffer.from(content), name, { mtime: new Date(0) });
  zip.end();
  const parts: Buffer[] = [];
  for await (const part of zip.outputStream) parts.push(part as Buffer);
  return Buffer.concat(parts);
}

const RELATIONS = "http://schemas.openxmlformats.org/officeDocument/2006/relationships";

/** One sheet: texts are shared strings, Dates have a style of dates, all else is a number. */
export function makeXlsx(sheet: string, rows: readonly (readonly (string | number | Date)[])[]): Promise<Buffer> {
  const texts: string[] = [];
  const cell = (value: string | number | Date, column: number, row: number): string => {
    const place = `r="${String.fromCharCode(65 + column)}${row + 1}"`;
    if (typeof value === "number") return `<c ${place}><v>${value}</v></c>`;
    if (value instanceof Date) return `<c ${place} s="1"><v>${value.getTime() / 86_400_000 + 25_569}</v></c>`;
    texts.push(value);
    return `<c ${place} t="s"><v>${texts.length - 1}</v></c>`;
  };
  const data = rows.map((row, i) => `<row r="${i + 1}">${row.map((value, j) => cell(value, j, i)).join("")}</row>`);
  return makeZip({
    "[Content_Types].xml": "<Types/>",
    "xl/workbook.xml": `<workbook xmlns:r="${RELATIONS}"><sheets><sheet name="${sheet}" sheetId="1" r:id="rId1"/></sheets></workbook>`,
    "xl/_rels/workbook.xml.rels": `<Relationships><Relationship Id="rId1" Type="${RELATIONS}/worksheet" Target="worksheets/sheet1.xml"/></Relationships>`,
    "xl/styles.xml":
      '<styleSheet><numFmts><numFmt numFmtId="164" formatCode="yyyy\\-mm\\-dd"/></numFmts><cellXfs><xf numFmtId="0"/><xf numFmtId="164"/></cellXfs></styleSheet>',
    "xl/worksheets/sheet1.xml": `<worksheet><sheetData>${data.join("")}</sheetData></worksheet>`,
    "xl/sharedStrings.xml": `<sst>${texts.map((text) => `<si><t>${escapeXml(text)}</t></si>`).join("")}</sst>`,
  });
}

export function makeEpub(title: string, chapters: readonly Passage[]): Promise<Buffer> {
  const ids = chapters.map((_, i) => `c${i}`);
  const items = ids.map((id) => `<item id="${id}" href="text/${id}.xhtml" media-type="application/xhtml+xml"/>`);
  const documents = chapters.map(({ heading, text }, i) => [
    `OEBPS/text/${ids[i]}.xhtml`,
    `<html><head><title>${heading}</title></head><body><h1>${escapeXml(heading)}</h1><p>${escapeXml(text)}</p></body></html>`,
  ]);
  return makeZip({
    mimetype: "application/epub+zip",
    "META-INF/container.xml": '<container><rootfiles><rootfile full-path="OEBPS/content.opf"/></rootfiles></container>',
    // Not in the order of the spine.
    "OEBPS/content.opf": `<package><metadata><dc:title>${escapeXml(title)}</dc:title><dc:creator>Sample Author</dc:creator></metadata><manifest>${items.reverse().join("")}</manifest><spine>${ids.map((id) => `<itemref idref="${id}"/>`).join("")}</spine></package>`,
    ...Object.fromEntries(documents),
  });
}

export function makeEmail(
  subject: string,
  text: string,
  attachment?: { readonly name: string; readonly content: string },
): string {
  const head = `From: Ada Lovelace <ada@example.com>\r\nTo: grace@example.com\r\nSubject: ${subject}\r\nDate: Mon, 6 May 2024 07:08:09 +0000\r\nMIME-Version: 1.0\r\n`;
  if (attachment === undefined) return `${head}Content-Type: text/plain; charset=utf-8\r\n\r\n${text}\r\n`;
  const body = `--b1\r\nContent-Type: text/plain; charset=utf-8\r\n\r\n${text}\r\n`;
  const file = `--b1\r\nContent-Type: application/octet-stream\r\nContent-Disposition: attachment; filename="${attachment.name}"\r\nContent-Transfer-Encoding: base64\r\n\r\n${Buffer.from(attachment.content).toString("base64")}\r\n`;
  return `${head}Content-Type: multipart/mixed; boundary=b1\r\n\r\n${body}${file}--b1--\r\n`;
}

/** A tone of one second, 8 kHz. */
export function makeWav(title: string): Buffer {
  const samples = Buffer.alloc(8000);
  for (let i = 0; i < samples.length; i++) samples[i] = 128 + Math.round(60 * Math.sin(i / 3));
  const format = Buffer.alloc(16);
  format.writeUInt16LE(1, 0);
  format.writeUInt16LE(1, 2);
  format.writeUInt32LE(8000, 4);
  format.writeUInt32LE(8000, 8);
  format.writeUInt16LE(1, 12);
  format.writeUInt16LE(8, 14);
  const info = Buffer.concat([Buffer.from("INFO"), riffPart("INAM", Buffer.from(`${title}\0`))]);
  return riffPart(
    "RIFF",
    Buffer.concat([Buffer.from("WAVE"), riffPart("fmt ", format), riffPart("LIST", info), riffPart("data", samples)]),
  );
}

/** Motion JPEG: each image a frame, two a second. */
export function makeAvi(
  title: string,
  size: { readonly width: number; readonly height: number },
  frames: readonly Buffer[],
): Buffer {
  const main = words(500_000, 0, 0, 0x10, frames.length, 0, 1, 1_000_000, size.width, size.height, 0, 0, 0, 0);
  const stream = Buffer.concat([
    Buffer.from("vidsMJPG"),
    words(0, 0, 0, 1, 2, 0, frames.length, 1_000_000, -1, 0, 0, 0),
  ]);
  const format = Buffer.concat([
    words(40, size.width, size.height, 1 | (24 << 16)),
    Buffer.from("MJPG"),
    words(0, 0, 0, 0, 0),
  ]);
  const streams = riffList("strl", [riffPart("strh", stream), riffPart("strf", format)]);
  const info = riffList("INFO", [riffPart("INAM", Buffer.from(`${title}\0`))]);
  const movie = riffList(
    "movi",
    frames.map((frame) => riffPart("00dc", frame)),
  );
  const parts = [riffList("hdrl", [riffPart("avih", main), streams]), info, movie];
  return riffPart("RIFF", Buffer.concat([Buffer.from("AVI "), ...parts]));
}

function words(...values: readonly number[]): Buffer {
  const bytes = Buffer.alloc(values.length * 4);
  for (const [index, value] of values.entries()) bytes.writeUInt32LE(value >>> 0, index * 4);
  return bytes;
}

function riffList(type: string, parts: readonly Buffer[]): Buffer {
  return riffPart("LIST", Buffer.concat([Buffer.from(type), ...parts]));
}

function riffPart(id: string, data: Buffer): Buffer {
  return Buffer.concat([Buffer.from(id, "latin1"), words(data.length), data, Buffer.alloc(data.length % 2)]);
}

export function escapeXml(text: string): string {
  return text.replace(/[&<>"]/g, (character) => `&#${character.charCodeAt(0)};`);
}
