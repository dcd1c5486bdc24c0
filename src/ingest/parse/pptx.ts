/**
 * PPTX: a page for each slide, in the order they are shown, with its title as the heading, tables and speaker's notes.
 */
import { DbError } from "../../protocol/errors.js";
import { FILE_PAGES_MAX } from "../../protocol/limits.js";
import { type Archive, openArchive } from "./archive.js";
import { neededText, readOfficeProperties, relationsOf } from "./office-properties.js";
import type { ParsedContent, ParserInput } from "./parsed-content.js";
import { readXml } from "./read-xml.js";

const PRESENTATION = "ppt/presentation.xml";

interface SlideText {
  title: string;
  readonly paragraphs: string[];
}

export async function parsePptx({ bytes }: ParserInput, content: ParsedContent): Promise<void> {
  content.mediaType = "application/vnd.openxmlformats-officedocument.presentationml.presentation";
  const archive = await openArchive(bytes);
  const slides = await slidesInOrder(archive);
  if (slides.length > FILE_PAGES_MAX) {
    throw new DbError(
      "file_too_large",
      `The presentation has ${slides.length} slides; at most ${FILE_PAGES_MAX} are read.`,
    );
  }
  await readOfficeProperties(archive, content);
  content.fact("pages", slides.length);
  for (const [index, part] of slides.entries()) {
    content.checkTime();
    const { title, paragraphs } = readSlide(await neededText(archive, part));
    content.text.page(index + 1);
    content.text.heading(1, title === "" ? `Slide ${index + 1}` : title);
    for (const paragraph of paragraphs) content.text.block(paragraph);
    const notes = await notesOf(archive, part);
    if (notes.length > 0) content.text.block(`Notes: ${notes.join("\n")}`);
    if (index === 0) content.setTitle(title);
  }
}

async function slidesInOrder(archive: Archive): Promise<string[]> {
  const relations = await relationsOf(archive, PRESENTATION);
  const slides: string[] = [];
  readXml(await neededText(archive, PRESENTATION), {
    open(name, attributes) {
      const target = name === "p:sldId" ? relations.get(attributes["r:id"] ?? "")?.target : undefined;
      if (target !== undefined) slides.push(target);
    },
  });
  return slides;
}

async function notesOf(archive: Archive, slide: string): Promise<string[]> {
  const notes = [...(await relationsOf(archive, slide)).values()].find(({ kind }) => kind === "notesSlide");
  const xml = notes === undefined ? null : await archive.text(notes.target);
  return xml === null ? [] : readSlide(xml).paragraphs;
}

/**
 * DrawingML: shapes (`p:sp`) of paragraphs (`a:p`) of runs (`a:t`); tables (`a:tbl`) of rows and cells that hold the
 * same.
 */
function readSlide(xml: string): SlideText {
  const slide: SlideText = { title: "", paragraphs: [] };
  let placeholder = "";
  let paragraph = "";
  let inText = false;
  let cells: string[] | null = null;
  let cell = "";
  readXml(xml, {
    open(name, attributes) {
      if (name === "p:sp") placeholder = "";
      else if (name === "p:ph") placeholder = attributes.type ?? "body";
      else if (name === "a:t") inText = true;
      else if (name === "a:br") paragraph += "\n";
      else if (name === "a:tr") cells = [];
    },
    text(text) {
      if (inText) paragraph += text;
    },
    close(name) {
      if (name === "a:t") inText = false;
      else if (name === "a:p") {
        const text = paragraph.trim();
        paragraph = "";
        if (text === "" || placeholder === "sldNum" || placeholder === "dt" || placeholder === "ftr") return;
        if (cells !== null) cell = cell === "" ? text : `${cell} ${text}`;
        else if (placeholder === "title" || placeholder === "ctrTitle") slide.title = `${slide.title} ${text}`.trim();
        else slide.paragraphs.push(text);
      } else if (name === "a:tc") {
        cells?.push(cell);
        cell = "";
      } else if (name === "a:tr") {
        if (cells?.some((text) => text !== "")) slide.paragraphs.push(cells.join(" | "));
        cells = null;
      }
    },
  });
  return slide;
}
