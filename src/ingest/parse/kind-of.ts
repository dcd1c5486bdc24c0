/**
 * The kind of a file from its name and first bytes, without reading the rest. Used for plans; a parse looks at the
 * whole content too (detect-kind.ts), since the archives that office documents are cannot be told apart by their start.
 */
import type { FileKind } from "./contract.js";

/** Bytes of a file's start that tell its kind. */
export const HEAD_BYTES = 4100;

const EXTENSIONS: Readonly<Record<string, Exclude<FileKind, "code" | "other">>> = {
  ...each(
    "text",
    "txt text log rst adoc asciidoc org tex pod conf cfg ini properties env toml yaml yml diff patch po srt vtt",
  ),
  ...each("markdown", "md markdown mdown mkd mdx"),
  ...each("html", "html htm xhtml"),
  ...each("xml", "xml svg rss atom xsd xsl xslt plist dbk docbook"),
  ...each("pdf", "pdf"),
  ...each("docx", "docx docm dotx"),
  ...each("pptx", "pptx pptm ppsx potx"),
  ...each("xlsx", "xlsx xlsm xltx"),
  ...each("csv", "csv tsv tab"),
  ...each("json", "json jsonl ndjson geojson ipynb webmanifest"),
  ...each("email", "eml"),
  ...each("epub", "epub"),
  ...each("image", "png jpg jpeg jpe webp gif tif tiff avif heic heif bmp"),
  ...each("audio", "mp3 m4a aac flac ogg oga opus wav aif aiff wma weba"),
  ...each("video", "mp4 m4v mov mkv webm avi mpg mpeg wmv flv ogv 3gp"),
};

/** Languages by the extensions of their files. */
const LANGUAGES: Readonly<Record<string, string>> = {
  ...each("javascript", "js mjs cjs jsx"),
  ...each("typescript", "ts mts cts tsx"),
  ...each("python", "py pyi"),
  ...each("ruby", "rb"),
  ...each("perl", "pl pm t"),
  ...each("php", "php"),
  ...each("java", "java"),
  ...each("kotlin", "kt kts"),
  ...each("scala", "scala"),
  ...each("c", "c h"),
  ...each("cpp", "cc cpp cxx hh hpp hxx"),
  ...each("csharp", "cs"),
  ...each("go", "go"),
  ...each("rust", "rs"),
  ...each("swift", "swift"),
  ...each("shell", "sh bash zsh fish"),
  ...each("awk", "awk"),
  ...each("sql", "sql"),
  ...each("css", "css scss less"),
  ...each("lua", "lua"),
  ...each("r", "r"),
  ...each("julia", "jl"),
  ...each("haskell", "hs"),
  ...each("ocaml", "ml mli"),
  ...each("coccinelle", "cocci"),
  ...each("elixir", "ex exs"),
  ...each("erlang", "erl"),
  ...each("clojure", "clj"),
  ...each("lisp", "el lisp scm"),
  ...each("make", "mk"),
  ...each("cmake", "cmake"),
  ...each("protobuf", "proto"),
  ...each("graphql", "graphql gql"),
};

/** Whole names of files that have no telling extension. */
const NAMES: Readonly<Record<string, string>> = {
  makefile: "make",
  dockerfile: "docker",
  rakefile: "ruby",
  gemfile: "ruby",
};

/** Starts of binary formats: offset, bytes in Latin-1, kind. */
const MAGIC: readonly (readonly [number, string, FileKind])[] = [
  [0, "%PDF-", "pdf"],
  [0, "\x89PNG\r\n\x1a\n", "image"],
  [0, "\xff\xd8\xff", "image"],
  [0, "GIF8", "image"],
  [0, "II*\0", "image"],
  [0, "MM\0*", "image"],
  [8, "WEBP", "image"],
  [8, "WAVE", "audio"],
  [8, "AVI ", "video"],
  [0, "ID3", "audio"],
  [0, "fLaC", "audio"],
  [0, "OggS", "audio"],
  [4, "ftypavif", "image"],
  [4, "ftyphei", "image"],
  [4, "ftypM4A", "audio"],
  [4, "ftyp", "video"],
  [0, "\x1aE\xdf\xa3", "video"],
];

/** In the order of the file: what a directory listing and the first `HEAD_BYTES` bytes tell. Never throws. */
export function kindOf(path: string, head: Uint8Array): FileKind {
  const named = kindByName(path);
  const start = Buffer.from(head.buffer, head.byteOffset, Math.min(head.byteLength, HEAD_BYTES)).toString("latin1");
  const found = MAGIC.find(([offset, magic]) => start.startsWith(magic, offset));
  if (found !== undefined) return found[2] === "video" && named === "audio" ? "audio" : found[2];
  if (start.startsWith("PK\x03\x04")) return isArchive(named) ? named : "other";
  if (named !== "other" && isTextual(named)) return looksBinary(head) ? "other" : named;
  // The extension promises a binary format that the content is not, unless its parser knows a start that is not listed.
  if (named !== "other") return isArchive(named) || named === "pdf" ? "other" : named;
  return looksBinary(head) ? "other" : "text";
}

/** The name of what gzip packed. */
export function withoutGzip(path: string): string {
  return path.replace(/\.gz(ip)?$/i, "");
}

export function kindByName(path: string): FileKind {
  const inner = withoutGzip(path);
  if (inner !== path) {
    const kind = kindByName(inner);
    return kind === "audio" || kind === "video" ? "other" : kind;
  }
  const { name, extension } = nameParts(path);
  if (NAMES[name] !== undefined || LANGUAGES[extension] !== undefined) return "code";
  return EXTENSIONS[extension] ?? "other";
}

/** The programming language that a file's name tells; null when none. */
export function languageOf(path: string): string | null {
  const { name, extension } = nameParts(path);
  return NAMES[name] ?? LANGUAGES[extension] ?? null;
}

/** Read as characters, in whatever encoding. */
export function isTextual(kind: FileKind): boolean {
  return ["text", "markdown", "html", "xml", "csv", "json", "email", "code"].includes(kind);
}

export function isArchive(kind: FileKind): boolean {
  return ["docx", "pptx", "xlsx", "epub"].includes(kind);
}

/** No text in a known encoding: NUL bytes without the pattern of UTF-16, or many control characters. */
export function looksBinary(head: Uint8Array): boolean {
  if (utf16WithoutMark(head) !== null) return false;
  if (head.length >= 2 && ((head[0] === 0xff && head[1] === 0xfe) || (head[0] === 0xfe && head[1] === 0xff)))
    return false;
  let controls = 0;
  for (const byte of head) {
    if (byte === 0) return true;
    if (byte < 0x20 && !(byte >= 0x07 && byte <= 0x0d) && byte !== 0x1b) controls++;
  }
  return controls * 20 > head.length;
}

/** Text of mostly Latin letters has a zero in every second byte. */
export function utf16WithoutMark(bytes: Uint8Array): string | null {
  const sample = bytes.subarray(0, 1024);
  if (sample.length < 8) return null;
  let even = 0;
  let odd = 0;
  for (let at = 0; at + 1 < sample.length; at += 2) {
    if (sample[at] === 0) even++;
    if (sample[at + 1] === 0) odd++;
  }
  const pairs = sample.length >> 1;
  if (odd > pairs * 0.7 && even < pairs * 0.05) return "utf-16le";
  if (even > pairs * 0.7 && odd < pairs * 0.05) return "utf-16be";
  return null;
}

function nameParts(path: string): { name: string; extension: string } {
  const name = path.slice(Math.max(path.lastIndexOf("/"), path.lastIndexOf("\\")) + 1).toLowerCase();
  const point = name.lastIndexOf(".");
  return { name, extension: point > 0 ? name.slice(point + 1) : "" };
}

function each<T extends string>(value: T, keys: string): Record<string, T> {
  return Object.fromEntries(keys.split(" ").map((key) => [key, value]));
}
