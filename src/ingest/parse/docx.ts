/** DOCX: paragraphs, headings, lists, tables and notes, by mammoth, which knows Word's styles. */
import mammoth from "mammoth";
import { openArchive } from "./archive.js";
import { writeHtml } from "./html.js";
import { neededText, readOfficeProperties } from "./office-properties.js";
import type { ParsedContent, ParserInput } from "./parsed-content.js";

export async function parseDocx({ bytes }: ParserInput, content: ParsedContent): Promise<void> {
  content.mediaType = "application/vnd.openxmlformats-officedocument.wordprocessingml.document";
  const archive = await openArchive(bytes);
  await neededText(archive, "word/document.xml");
  // mammoth inflates for itself and holds entries to no bound.
  await archive.verify();
  content.checkTime();
  await readOfficeProperties(archive, content);
  const { value } = await mammoth.convertToHtml(
    { buffer: bytes },
    {
      convertImage: mammoth.images.imgElement(async (image) => ({
        src: "",
        alt: (image as { altText?: string }).altText ?? "",
      })),
      styleMap: ["p[style-name='Title'] => h1:fresh", "p[style-name='Subtitle'] => p:fresh"],
      externalFileAccess: false,
    },
  );
  writeHtml(value, content);
  const images = archive.names.filter((name) => name.startsWith("word/media/")).length;
  if (images > 0) {
    content.fact("images", images);
    content.notes.push(`images: ${images} within the document were not read`);
  }
}
