/** Files that are broken or meant to harm: a DbError each, in bounded time and memory, whatever their bytes. */
import { deflateRawSync, deflateSync } from "node:zlib";
import t from "tap";
import { chunkText } from "../../src/ingest/chunk/chunk-text.js";
import { TextBuilder } from "../../src/ingest/chunk/extracted-text.js";
import { randomFrom } from "../fuzz/random.js";
import { sized } from "../lengths.js";
import { ingestFolder } from "./ingest-folder.js";
import { makeDocx, makeEmail, makeEpub, makePdf, makePptx, makeWav, makeXlsx, makeZip } from "./sample-files.js";
import { imageOfWords } from "./sample-images.js";

const PASSAGES = [
  { heading: "The orchard", text: "Seventeen pear trees stand behind the mill." },
  { heading: "The river", text: "The ferry crosses twice a day." },
];
/** What a broken file may answer. */
const REFUSALS = ["file_corrupt", "file_unsupported", "file_too_large", "file_encrypted"];
const NAMES =
  "txt md html xml pdf docx pptx xlsx csv json jsonl eml epub ts png jpg webp gif tif avif mp3 m4a flac ogg wav mp4 mkv webm avi".split(
    " ",
  );

/** Bytes from a seed. */
function randomBytes(seed: number, length: number): Buffer {
  const random = randomFrom(seed);
  return Buffer.from(Array.from({ length }, () => (random() * 2 ** 32) & 0xff));
}

async function samples(): Promise<Record<string, Buffer>> {
  return {
    pdf: await makePdf("A", PASSAGES),
    docx: await makeDocx("A", PASSAGES),
    pptx: await makePptx("A", PASSAGES),
    xlsx: await makeXlsx("A", [
      ["Tree", "Count"],
      ["Pear", 17],
    ]),
    epub: await makeEpub("A", PASSAGES),
    eml: Buffer.from(makeEmail("A", "words", { name: "a.csv", content: "a,b" })),
    png: await imageOfWords(["words"]),
    wav: makeWav("A"),
    json: Buffer.from('{"a":[{"b":"c"},{"d":[1,2,3]}]}'),
    html: Buffer.from("<html><body><table><tr><td>a<td>b</table><ul><li>x<li>y</ul><pre>z</pre></body></html>"),
  };
}

t.test("random bytes under the name of every kind", async (t) => {
  const folder = ingestFolder(t);
  for (const [index, extension] of NAMES.entries()) {
    for (const length of [1, 40, 5000]) {
      const name = `random-${length}.${extension}`;
      folder.write(name, randomBytes(index * 10_007 + length, length));
      const code = await folder.codeOf(name);
      // A few bytes may be text by chance.
      if (length === 5000 || code !== null) t.ok(REFUSALS.includes(code!), `${name}: ${code}`);
    }
    folder.write(`empty.${extension}`, "");
    const code = await folder.codeOf(`empty.${extension}`);
    t.ok(code === null || REFUSALS.includes(code), `empty ${extension}: ${code}`);
  }
});

t.test("files that are cut off, or have some bytes changed", async (t) => {
  const folder = ingestFolder(t);
  let refused = 0;
  let parses = 0;
  for (const [extension, whole] of Object.entries(await samples())) {
    const name = `sample.${extension}`;
    folder.write(name, whole);
    t.equal(await folder.codeOf(name), null, `a whole ${extension}`);
    const tries = [0.05, 0.4, 0.8, 0.99].map((share) => whole.subarray(0, Math.floor(whole.length * share)));
    for (let seed = 1; seed <= sized(3, 6); seed++) {
      const changed = Buffer.from(whole);
      const noise = randomBytes(seed, 64);
      for (let i = 0; i < 32; i += 4) changed[noise.readUInt32LE(i) % changed.length] = noise[32 + i]!;
      tries.push(changed);
    }
    for (const bytes of tries) {
      folder.write(name, bytes);
      const code = await folder.codeOf(name);
      parses++;
      if (code !== null) refused++;
      if (code !== null) t.ok(REFUSALS.includes(code), `${extension}: ${code}`);
    }
  }
  t.ok(refused > parses / 4, `${refused} of ${parses} were refused`);
});

t.test("archives that inflate to more than they may", async (t) => {
  const folder = ingestFolder(t);
  const before = process.memoryUsage().rss;
  const parts = { "[Content_Types].xml": "<Types/>", "word/document.xml": "<w:document/>" };
  // A real one: 12 MB of one letter, packed to a thousandth.
  folder.write("ratio.docx", await makeZip({ ...parts, "word/media/a": Buffer.alloc(12_000_000, "a") }));
  t.equal(await folder.codeOf("ratio.docx"), "file_too_large");
  folder.write("open.docx", lyingZip(1_500_000, 300_000_000));
  t.equal(await folder.codeOf("open.docx"), "file_too_large", "four parts of 300 MB, by its own word");
  for (const extension of ["docx", "xlsx", "pptx", "epub"]) {
    // The same, said to be 1,000 bytes: its size is believed by nobody.
    folder.write(`liar.${extension}`, lyingZip(4_000_000, 1000));
    t.equal(await folder.codeOf(`liar.${extension}`), "file_corrupt", `a ${extension} that lies about its size`);
  }
  const many = lyingZip(10, 10);
  many.writeUInt16LE(10_001, many.length - 22 + 10);
  folder.write("many.docx", many);
  t.equal(await folder.codeOf("many.docx"), "file_too_large");
  t.ok(process.memoryUsage().rss - before < 300 * 1024 * 1024, "memory");
});

t.test("a PDF whose page inflates to more than it may", async (t) => {
  const folder = ingestFolder(t);
  folder.write("bomb.pdf", pdfOf(deflateSync(Buffer.alloc(140_000_000, " "), { level: 1 })));
  const before = process.memoryUsage().rss;
  t.equal(await folder.codeOf("bomb.pdf"), "file_too_large");
  t.ok(process.memoryUsage().rss - before < 400 * 1024 * 1024, "memory");
  folder.write("plain.pdf", pdfOf(deflateSync(Buffer.from(""))));
  t.equal(await folder.codeOf("plain.pdf"), null, "the next one is read as ever");
  t.equal(new Uint8Array(8).constructor.name, "Uint8Array");
});

t.test("markup that nests without end, sheets of far columns, texts without end", async (t) => {
  const folder = ingestFolder(t);
  folder.write("deep.html", `<p>${"<b>".repeat(100_000)}words`);
  t.equal(await folder.codeOf("deep.html"), "file_corrupt");
  for (const [name, line] of [
    ["quotes", `${">".repeat(200_000)}words`],
    ["lists", `${"- ".repeat(100_000)}words`],
    ["indented", Array.from({ length: 400 }, (_, i) => `${"  ".repeat(i)}- words`).join("\n")],
  ] as const) {
    folder.write(`${name}.md`, line);
    t.equal(await folder.codeOf(`${name}.md`), "file_corrupt", name);
  }
  folder.write("nested.md", Array.from({ length: 20 }, (_, i) => `${"  ".repeat(i)}- > words`).join("\n"));
  t.equal(await folder.codeOf("nested.md"), null);
  folder.write("deep.xml", `<a>${"<b>".repeat(100_000)}`);
  t.equal(await folder.codeOf("deep.xml"), "file_corrupt");
  const sheet = '<worksheet><sheetData><row><c r="ZZZZZZ1"><v>1</v></c></row></sheetData></worksheet>';
  const relations = '<Relationships><Relationship Id="r" Type="x/worksheet" Target="a.xml"/></Relationships>';
  folder.write(
    "far.xlsx",
    await makeZip({
      "xl/workbook.xml": '<workbook><sheets><sheet name="A" r:id="r"/></sheets></workbook>',
      "xl/_rels/workbook.xml.rels": relations,
      "xl/a.xml": sheet,
    }),
  );
  t.equal(await folder.codeOf("far.xlsx"), "file_corrupt");
  folder.write("long.txt", Buffer.alloc(17 * 1024 * 1024, "word "));
  t.equal(await folder.codeOf("long.txt"), "file_too_large");
  folder.write("chunks.txt", Buffer.alloc(4 * 1024 * 1024, "word. "));
  t.equal(await folder.codeOf("chunks.txt", { chunkCharacters: 50, overlapCharacters: 0 }), "file_too_large");
  folder.write("markdown.md", `${"[".repeat(20_000)}\n\n${"> ".repeat(3000)}x`);
  t.ok([null, ...REFUSALS, "file_timeout"].includes(await folder.codeOf("markdown.md", { timeoutMs: 10_000 })));
});

t.test("no time left, and sizes of chunks that make no sense", async (t) => {
  const folder = ingestFolder(t);
  folder.write("a.pdf", await makePdf("A", PASSAGES));
  t.equal(await folder.codeOf("a.pdf", { timeoutMs: 0 }), "file_timeout");
  t.equal(await folder.codeOf("a.pdf", { chunkCharacters: 10 }), "invalid_request");
  t.equal(await folder.codeOf("a.pdf", { overlapCharacters: 1000 }), "invalid_request");
  t.equal(await folder.codeOf("a.pdf", { overlapCharacters: -1 }), "invalid_request");
});

t.test("texts of one endless line or paragraph are cut in time that grows with it", async (t) => {
  const builder = new TextBuilder();
  builder.raw("x".repeat(2_000_000));
  t.equal(chunkText(builder.finish(), { characters: 1000, overlap: 100 }).length, 2000);
  // After each point, whether a small letter follows somewhere decides if a sentence ends.
  const points = new TextBuilder();
  points.raw("1 . 2 .\n".repeat(30_000));
  t.ok(chunkText(points.finish(), { characters: 1000, overlap: 100 }).length >= 240);
});

/** One page with the given deflated content. */
function pdfOf(content: Buffer): Buffer {
  const objects = [
    "<< /Type /Catalog /Pages 2 0 R >>",
    "<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
    "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 600 800] /Contents 4 0 R /Resources << >> >>",
    `<< /Length ${content.length} /Filter /FlateDecode >>\nstream\n`,
  ];
  const head = objects.map((object, index) => `${index + 1} 0 obj\n${object}${index < 3 ? "\nendobj\n" : ""}`);
  // Without a table of places: readers look for the objects themselves.
  const end = "\nendstream\nendobj\ntrailer\n<< /Size 5 /Root 1 0 R >>\nstartxref\n0\n%%EOF";
  return Buffer.concat([Buffer.from(`%PDF-1.7\n${head.join("")}`), content, Buffer.from(end)]);
}

/** One deflated entry whose header claims `claimed` bytes; it is a part of every kind of document. */
function lyingZip(bytes: number, claimed: number): Buffer {
  const packed = deflateRawSync(Buffer.alloc(bytes, " "));
  const names = ["word/document.xml", "xl/workbook.xml", "ppt/presentation.xml", "META-INF/container.xml"];
  const locals: Buffer[] = [];
  const centrals: Buffer[] = [];
  let offset = 0;
  for (const name of names) {
    const local = Buffer.alloc(30);
    local.writeUInt32LE(0x04034b50, 0);
    local.writeUInt16LE(20, 4);
    local.writeUInt16LE(8, 8);
    local.writeUInt32LE(packed.length, 18);
    local.writeUInt32LE(claimed, 22);
    local.writeUInt16LE(name.length, 26);
    const central = Buffer.alloc(46);
    central.writeUInt32LE(0x02014b50, 0);
    central.writeUInt16LE(20, 4);
    central.writeUInt16LE(20, 6);
    central.writeUInt16LE(8, 10);
    central.writeUInt32LE(packed.length, 20);
    central.writeUInt32LE(claimed, 24);
    central.writeUInt16LE(name.length, 28);
    central.writeUInt32LE(offset, 42);
    locals.push(local, Buffer.from(name), packed);
    centrals.push(central, Buffer.from(name));
    offset += local.length + name.length + packed.length;
  }
  const directory = Buffer.concat(centrals);
  const end = Buffer.alloc(22);
  end.writeUInt32LE(0x06054b50, 0);
  end.writeUInt16LE(names.length, 8);
  end.writeUInt16LE(names.length, 10);
  end.writeUInt32LE(directory.length, 12);
  end.writeUInt32LE(offset, 16);
  return Buffer.concat([...locals, directory, end]);
}
