/** Real files of every kind become their text, by page and heading. */
import { createCipheriv } from "node:crypto";
import { gzipSync } from "node:zlib";
import sharp from "sharp";
import t from "tap";
import { releaseImageReader } from "../../src/ingest/image/read-text.js";
import { type IngestFolder, ingestFolder, textOf } from "./ingest-folder.js";
import {
  makeAvi,
  makeDocx,
  makeEmail,
  makeEpub,
  makePdf,
  makePptx,
  makeScan,
  makeWav,
  makeXlsx,
  makeZip,
} from "./sample-files.js";
import { imageOfWords, svgHasFonts } from "./sample-images.js";

const ORCHARD = {
  heading: "The orchard",
  text: "Seventeen pear trees stand behind the mill. None of them bears fruit before August.",
};
const RIVER = { heading: "The river", text: "The ferry crosses twice a day. In winter it stays on the western bank." };
const noFonts = (await svgHasFonts()) ? false : "this machine has no fonts to draw words with";

let folder: IngestFolder;
t.before(() => {
  folder = ingestFolder(t);
});
t.teardown(releaseImageReader);

/** Page and heading of the chunk that has the words. */
function placeOf(file: Awaited<ReturnType<IngestFolder["parse"]>>, words: string): unknown[] {
  const chunk = file.chunks.find(({ text }) => text.replace(/\s+/g, " ").includes(words));
  return chunk === undefined ? ["not found in", textOf(file)] : [chunk.page, chunk.heading];
}

t.test("plain text in the encodings that there are", async (t) => {
  const words = "Größe, naïve café – “quoted”";
  const encodings: [string, Buffer, string][] = [
    ["utf8.txt", Buffer.from(words), "utf-8"],
    ["utf8-mark.txt", Buffer.from(`\ufeff${words}`), "utf-8"],
    ["utf16le.txt", Buffer.from(`\ufeff${words}`, "utf16le"), "utf-16le"],
    ["utf16be.txt", Buffer.from(`\ufeff${words}`, "utf16le").swap16(), "utf-16be"],
    ["utf16-bare.txt", Buffer.from("plain words without a mark", "utf16le"), "utf-16le"],
    ["latin.txt", Buffer.from("Größe, naïve café", "latin1"), "windows-1252"],
  ];
  for (const [name, bytes, encoding] of encodings) {
    const file = await folder.parsed(name, bytes);
    t.match(file, { kind: "text", mediaType: "text/plain", metadata: { encoding } });
    t.match(textOf(file), name === "utf16-bare.txt" ? "plain words without a mark" : /^Größe, naïve café/, name);
  }
  const odd = await folder.parsed("no-extension", "words with a \u0001 control");
  t.equal(textOf(odd), "words with a   control");
});

t.test("Markdown", async (t) => {
  const file = await folder.parsed(
    "guide.md",
    "---\ntitle: The guide\nauthor: Ada\ntags: [a, b]\n---\n# Start\n\nHello *you*.\n\n## Install\n\n```sh\nrun it\n```\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\nUse\n===\n\n- one\n- two\n",
  );
  t.match(file, { kind: "markdown", title: "The guide", metadata: { author: "Ada", tags: ["a", "b"] } });
  t.strictSame(placeOf(file, "Hello *you*."), [undefined, "Start"]);
  t.strictSame(placeOf(file, "run it"), [undefined, "Start > Install"]);
  t.strictSame(placeOf(file, "- two"), [undefined, "Use"]);
});

t.test("HTML", async (t) => {
  const file = await folder.parsed(
    "page.html",
    `<!doctype html><html lang="en"><head><title>The &amp; page</title><meta name="description" content="About it">
     <style>p { color: red }</style><script>alert("no")</script></head><body><nav>Menu</nav><h1>One</h1><p>First
     paragraph &lt;here&gt;<br>next line</p><h2>Two</h2><ul><li>alpha<li>beta</ul><table><tr><th>Name<th>Age<tr><td>Ada<td>36</table>
     <pre>  keep
    this</pre><template>hidden</template><img alt="a lighthouse" src="x.png"></body></html>`,
  );
  const text = textOf(file);
  t.match(file, { kind: "html", title: "The & page", metadata: { description: "About it", language: "en" } });
  t.notMatch(text, /alert|color: red|hidden/);
  t.match(text, /First paragraph <here>\nnext line/);
  t.match(text, /- alpha\n- beta/);
  t.match(text, /Ada \| 36/);
  t.match(text, /keep\n {4}this/);
  t.match(text, /a lighthouse/);
  t.strictSame(placeOf(file, "- beta"), [undefined, "One > Two"]);
  const latin = await folder.parsed("latin.html", Buffer.from('<meta charset="iso-8859-2"><p>\u00b1', "latin1"));
  t.equal(textOf(latin), "ą");
});

t.test("XML and SVG", async (t) => {
  const file = await folder.parsed(
    "book.xml",
    "<?xml version='1.0'?><book><title>On pears</title><para>Ripe in <em>August</em>.</para></book>",
  );
  t.match(file, { kind: "xml", title: "On pears", metadata: { root: "book" } });
  t.match(textOf(file), /Ripe in/);
  t.equal(
    (await folder.parsed("a.svg", "<svg><script>x()</script><text>Label</text></svg>")).mediaType,
    "image/svg+xml",
  );
  const laughs = `<!DOCTYPE l [<!ENTITY a "ha"><!ENTITY b "${"&a;".repeat(99)}"><!ENTITY c "${"&b;".repeat(99)}">]><l>&c;</l>`;
  t.ok((await folder.parsed("laughs.xml", laughs)).characters < 100, "entities are not expanded");
});

t.test("PDF", async (t) => {
  const file = await folder.parsed("land.pdf", await makePdf("Land and water", [ORCHARD, RIVER]));
  t.match(file, { kind: "pdf", mediaType: "application/pdf", title: "Land and water" });
  t.match(file.metadata, { pages: 2, author: "Sample Author", created: /^2024-01-02T00:00:00/ });
  t.equal(placeOf(file, "Seventeen pear trees stand behind the mill.")[0], 1);
  t.equal(placeOf(file, "The ferry crosses twice a day.")[0], 2);
  folder.write("locked.pdf", await makePdf("Secret", [RIVER], { userPassword: "secret", pdfVersion: "1.7" }));
  t.equal(await folder.codeOf("locked.pdf"), "file_encrypted");
  const restricted = await makePdf("May be read", [RIVER], { ownerPassword: "owner", pdfVersion: "1.7" });
  t.match(textOf(await folder.parsed("restricted.pdf", restricted)), /ferry/);
});

t.test("a scanned PDF is read when asked for", { skip: noFonts }, async (t) => {
  folder.write("scan.pdf", await makeScan(await imageOfWords(["The harbour master", "counts seventeen boats"])));
  const unread = await folder.parse("scan.pdf");
  t.strictSame(unread.chunks, []);
  t.match(unread.notes, [/ocr: not asked for: 1 of 1 pages/]);
  const read = await folder.parse("scan.pdf", { ocrImages: true });
  if (read.notes.length > 0) t.match(read.notes, [/install the package/]);
  else t.equal(placeOf(read, "seventeen boats")[0], 1);
});

t.test("DOCX", async (t) => {
  const table = [
    ["Tree", "Count"],
    ["Pear", "17"],
  ];
  const file = await folder.parsed("land.docx", await makeDocx("Land and water", [ORCHARD, RIVER], table));
  t.match(file, { kind: "docx", title: "Land and water", metadata: { author: "Sample Author" } });
  t.strictSame(placeOf(file, "Seventeen pear trees"), [undefined, "The orchard"]);
  t.strictSame(placeOf(file, "The ferry crosses"), [undefined, "The river"]);
  t.match(textOf(file), /Pear \| 17/);
});

t.test("PPTX", async (t) => {
  const file = await folder.parsed(
    "talk.pptx",
    await makePptx("A talk", [{ ...ORCHARD, notes: "Mention the frost." }, RIVER]),
  );
  t.match(file, { kind: "pptx", title: "A talk", metadata: { pages: 2 } });
  t.strictSame(placeOf(file, "Seventeen pear trees"), [1, "The orchard"]);
  t.strictSame(placeOf(file, "Notes: Mention the frost."), [1, "The orchard"]);
  t.strictSame(placeOf(file, "The ferry crosses"), [2, "The river"]);
});

t.test("XLSX", async (t) => {
  const rows = [
    ["Tree", "Planted", "Count"],
    ["Pear & apple", new Date(Date.UTC(1987, 3, 12)), 17],
  ];
  const file = await folder.parsed("trees.xlsx", await makeXlsx("Orchard", rows));
  t.match(file, {
    kind: "xlsx",
    metadata: { sheets: [{ name: "Orchard", rows: 1, columns: ["Tree", "Planted", "Count"] }] },
  });
  t.strictSame(placeOf(file, "Tree: Pear & apple; Planted: 1987-04-12; Count: 17"), [1, "Orchard"]);
});

t.test("CSV and TSV", async (t) => {
  const file = await folder.parsed("trees.csv", 'Tree;Note\nPear;"bears; in ""August"""\nPlum;\n');
  t.match(file, { kind: "csv", mediaType: "text/csv", metadata: { rows: 2, columns: ["Tree", "Note"] } });
  t.equal(textOf(file), 'Columns: Tree, Note\nTree: Pear; Note: bears; in "August"\nTree: Plum');
  t.match(textOf(await folder.parsed("a.tsv", "1\t2\n3\t4\n")), "1 | 2\n3 | 4", "no header");
});

t.test("JSON and JSON Lines", async (t) => {
  const file = await folder.parsed(
    "a.json",
    '{"tree":{"name":"Pear","tags":["old","tall"]},"rows":[{"n":1},{"n":null}]}',
  );
  t.equal(textOf(file), "tree.name: Pear\ntree.tags: old, tall\nrows[0].n: 1");
  t.match(await folder.parsed("a.jsonl", '{"a":1}\n\n{"a":"two"}\n'), {
    metadata: { items: 2 },
    mediaType: "application/x-ndjson",
  });
  folder.write("deep.json", "[".repeat(100_000) + "]".repeat(100_000));
  t.equal(await folder.codeOf("deep.json"), "file_corrupt");
  folder.write("bad.jsonl", '{"a":1}\n{"a":');
  t.equal(await folder.codeOf("bad.jsonl"), "file_corrupt");
});

t.test("messages", async (t) => {
  const file = await folder.parsed(
    "a.eml",
    makeEmail("The pears", ORCHARD.text, { name: "pears.csv", content: "a,b" }),
  );
  t.match(file, {
    kind: "email",
    title: "The pears",
    metadata: {
      from: "Ada Lovelace <ada@example.com>",
      date: "2024-05-06T07:08:09.000Z",
      attachments: [{ name: "pears.csv", bytes: 3 }],
    },
    notes: [/1 listed by name/],
  });
  t.match(textOf(file), /Seventeen pear trees[\s\S]*Attachments: pears\.csv/);
  folder.write("no.eml", "just some words\nand more of them\n");
  t.equal(await folder.codeOf("no.eml"), "file_corrupt");
});

t.test("EPUB in the order of its spine", async (t) => {
  const file = await folder.parsed("land.epub", await makeEpub("Land & water", [ORCHARD, RIVER]));
  t.match(file, { kind: "epub", title: "Land & water", metadata: { author: "Sample Author", pages: 2 } });
  t.strictSame(placeOf(file, "Seventeen pear trees"), [1, "The orchard"]);
  t.strictSame(placeOf(file, "The ferry crosses"), [2, "The river"]);
});

t.test("source code is cut between its declarations", async (t) => {
  const declaration = (name: string) =>
    `/** Does ${name}. */\nfunction ${name}() {\n  const a = 1;\n\n  return a;\n}\n`;
  const names = Array.from({ length: 20 }, (_, i) => `function${i}`);
  const file = await folder.parsed("a.ts", names.map(declaration).join("\n"), {
    chunkCharacters: 250,
    overlapCharacters: 0,
  });
  t.match(file, { kind: "code", metadata: { language: "typescript", lines: 139 } });
  for (const { text } of file.chunks) t.match(text, /^\/\*\* Does[\s\S]*\}$/);
  t.match(await folder.parsed("Makefile", "all:\n\techo\n"), { kind: "code", metadata: { language: "make" } });
});

t.test("audio: tags, and why there is no transcription", async (t) => {
  const file = await folder.parsed("tone.wav", makeWav("The long tone"));
  t.match(file, {
    kind: "audio",
    title: "The long tone",
    metadata: { duration_seconds: 1, sample_rate: 8000, channels: 1 },
  });
  t.match(file.notes, [/^transcription: not made/]);
  const why = await folder.parsed("tone.wav", makeWav("The long tone"), { speech: "because" });
  t.match(why, { notes: ["because"], sound: undefined });
  const speech = { ffmpeg: "no-such-program", secondsMax: 600 };
  const { sound, notes } = await folder.parsed("tone.wav", makeWav("The long tone"), { speech });
  t.match(sound, { samples: 16_000, isCut: false });
  t.same(notes, []);
});

t.test("video: metadata; key frames where there is ffmpeg", { skip: noFonts }, async (t) => {
  const frame = async (words: string) =>
    sharp(await imageOfWords([words]))
      .jpeg()
      .toBuffer();
  const frames = [await frame("The harbour master"), await frame("counts seventeen boats")];
  const size = { width: 900, height: 144 };
  folder.write("boats.avi", makeAvi("Boats at noon", size, frames));
  const file = await folder.parse("boats.avi", { ocrImages: true });
  t.match(file, { kind: "video", title: "Boats at noon", mediaType: /^video\// });
  t.match(file.metadata, { ...size, duration_seconds: 1, frame_rate: 2, container: "AVI" });
  if (file.metadata.key_frames === undefined) t.match(file.notes.join(), /key frames: not available: install ffmpeg/);
  else {
    t.match(textOf(file), /counts seventeen boats/);
    t.ok(file.thumbnail !== undefined);
  }
});

t.test("kinds that are not read, and names that promise something else", async (t) => {
  const cases: [string, Buffer, string][] = [
    ["a.gz", gzipSync(Buffer.alloc(300)), "file_unsupported"],
    ["a.zip", await makeZip({ "a.txt": "words" }), "file_unsupported"],
    ["zip.docx", await makeZip({ "a.txt": "words" }), "file_corrupt"],
    [
      "garbage.pdf",
      createCipheriv("aes-128-ctr", Buffer.alloc(16), Buffer.alloc(16)).update(Buffer.alloc(50_000)),
      "file_corrupt",
    ],
    ["text.pdf", Buffer.from("just words"), "file_corrupt"],
    ["binary.txt", Buffer.from([1, 2, 0, 4, 0, 0, 9]), "file_corrupt"],
    ["old.doc", Buffer.concat([Buffer.from("d0cf11e0a1b11ae1", "hex"), Buffer.alloc(600)]), "file_unsupported"],
    [
      "locked.docx",
      Buffer.concat([
        Buffer.from("d0cf11e0a1b11ae1", "hex"),
        Buffer.alloc(600),
        Buffer.from("EncryptedPackage", "utf16le"),
      ]),
      "file_encrypted",
    ],
  ];
  for (const [name, bytes, code] of cases) {
    folder.write(name, bytes);
    t.equal(await folder.codeOf(name), code, name);
  }
  const renamed = await folder.parsed("really-a.docx.pdf", await makePdf("A", [RIVER]));
  t.equal(renamed.kind, "pdf");
  t.equal((await folder.parsed("really.xlsx", await makeDocx("A", [RIVER]))).kind, "docx", "the content tells");
});

t.test("files that gzip packed", async (t) => {
  const markdown = await folder.parsed("guide.md.gz", gzipSync("# Boats\n\nA boat floats.\n"));
  t.match(markdown, { kind: "markdown", title: "Boats" });
  t.match(markdown.chunks.map(({ text }) => text).join(), /A boat floats/);
  t.match(await folder.parsed("notes.txt.GZ", gzipSync("plain words")), { kind: "text" });
  t.match(await folder.parsed("table.csv.gz", gzipSync("a,b\n1,2\n")), { kind: "csv" });
  t.match(await folder.parsed("main.ts.gz", gzipSync("export const a = 1;\n")), {
    kind: "code",
    metadata: { language: "typescript" },
  });
  t.match(
    await folder.parsed("report.pdf.gz", gzipSync(await makePdf("Pears", [{ heading: "A", text: "Some pears." }]))),
    { kind: "pdf" },
  );
  t.match(await folder.parsed("no-name.gz", gzipSync("words without a telling name")), { kind: "text" });
  await t.rejects(folder.parsed("cut.md.gz", gzipSync("# Boats\n").subarray(0, 15)), { code: "file_corrupt" });
  await t.rejects(folder.parsed("sound.wav.gz", gzipSync(makeWav("A"))), { code: "file_unsupported" });
  await t.rejects(folder.parsed("bomb.txt.gz", gzipSync(Buffer.alloc(64 * 1024 * 1024, "a"))), {
    code: "file_too_large",
  });
  await t.rejects(folder.parsed("twice.md.gz.gz", gzipSync(gzipSync("# A\n"))), { code: "file_corrupt" });
});
