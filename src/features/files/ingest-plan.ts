/**
 * What reading a folder will take: files and bytes by kind, the steps, and a rough time. Made from a scan when a collection
 * is made; what it says is a forecast, not a promise, and nothing is read for it but names and sizes.
 */

import type { FileTasks } from "../../ingest/file-tasks.js";
import type { FileKind } from "../../ingest/parse/contract.js";
import { kindByName } from "../../ingest/parse/kind-of.js";
import type { FoundFile } from "../../ingest/watch/found-file.js";
import { PLAN_FILES_MAX, SCAN_PAGE_FILES } from "../../protocol/limits.js";
import type { FolderOptions } from "./folder-options.js";

interface Cost {
  /** Milliseconds of a thread for any file, and for a MiB of it; about, on one core of today. */
  readonly file: number;
  readonly mib: number;
}

const TEXT: Cost = { file: 4, mib: 250 };
const COSTS: Readonly<Partial<Record<FileKind, Cost>>> = {
  pdf: { file: 60, mib: 700 },
  docx: { file: 40, mib: 600 },
  pptx: { file: 40, mib: 200 },
  xlsx: { file: 40, mib: 800 },
  epub: { file: 40, mib: 400 },
  image: { file: 30, mib: 30 },
  audio: { file: 20, mib: 10 },
  video: { file: 60, mib: 5 },
};
/** Milliseconds to read the words of one image. */
const OCR_MS = 2500;

export interface IngestPlan {
  readonly files: number;
  readonly bytes: number;
  readonly by_kind: readonly { readonly kind: string; readonly files: number; readonly bytes: number }[];
  readonly steps: readonly { readonly step: string; readonly description: string }[];
  readonly estimated_seconds: number;
  /** Left out as they are: links, pipes, files that are too large. */
  readonly skipped: readonly { readonly path: string; readonly reason: string }[];
  /** There is more than a plan looks at: its numbers are of the first files. */
  readonly truncated: boolean;
}

const SKIPPED_SHOWN_MAX = 20;

export async function planOf(
  tasks: FileTasks,
  root: string,
  options: FolderOptions,
  bounds: { readonly fileBytesMax: number; readonly threads: number },
): Promise<IngestPlan> {
  const plan = new Plan(options, bounds);
  const { recursive, include, exclude } = options;
  for (let after = ""; ; ) {
    const page = await tasks.scanFolder({ root, recursive, include, exclude, after, filesMax: SCAN_PAGE_FILES });
    for (const file of page.files) plan.add(file);
    for (const { path, why } of page.skipped) plan.skip(path, why);
    if (page.next === null) return plan.finish(false);
    if (plan.files >= PLAN_FILES_MAX) return plan.finish(true);
    after = page.next;
  }
}

class Plan {
  files = 0;
  private bytes = 0;
  private ms = 0;
  private readonly kinds = new Map<string, { files: number; bytes: number }>();
  private readonly skipped: { path: string; reason: string }[] = [];

  constructor(
    private readonly options: FolderOptions,
    private readonly bounds: { readonly fileBytesMax: number; readonly threads: number },
  ) {}

  add({ path, size }: FoundFile): void {
    const kind = kindByName(path);
    this.files++;
    this.bytes += size;
    const sum = this.kinds.get(kind) ?? { files: 0, bytes: 0 };
    sum.files++;
    sum.bytes += size;
    this.kinds.set(kind, sum);
    if (size > this.bounds.fileBytesMax) {
      this.skip(path, `it has ${size} bytes; at most ${this.bounds.fileBytesMax} are read`);
      return;
    }
    const cost = COSTS[kind] ?? TEXT;
    this.ms += cost.file + (cost.mib * size) / 1_048_576;
    if (kind === "image" && this.options.ocr_images) this.ms += OCR_MS;
  }

  skip(path: string, reason: string): void {
    if (this.skipped.length < SKIPPED_SHOWN_MAX) this.skipped.push({ path, reason });
  }

  finish(truncated: boolean): IngestPlan {
    const kinds = [...this.kinds].sort(([, a], [, b]) => b.files - a.files);
    return {
      files: this.files,
      bytes: this.bytes,
      by_kind: kinds.map(([kind, sum]) => ({ kind, ...sum })),
      steps: this.steps(),
      estimated_seconds: Math.ceil(this.ms / 1000 / this.bounds.threads),
      skipped: this.skipped,
      truncated,
    };
  }

  private steps(): IngestPlan["steps"] {
    const { chunk_size: size, overlap, ocr_images: ocr, embed_text: embeds } = this.options;
    const has = (...names: string[]) => names.some((name) => this.kinds.has(name));
    return [
      { step: "parse", description: "Text, headings, pages and metadata of each file by its kind." },
      ...(ocr && has("image", "pdf") ? [{ step: "ocr", description: "Words in images are read." }] : []),
      ...(has("audio")
        ? [
            {
              step: "audio",
              description: "Audio is stored with its tags, and with what is said where a speech model is installed.",
            },
          ]
        : []),
      {
        step: "chunk",
        description: `Passages of at most ${size} characters along headings and paragraphs, repeating up to ${overlap}.`,
      },
      ...(embeds ? [{ step: "embed", description: "Each passage gets a vector." }] : []),
      { step: "index", description: embeds ? "Words and vectors are indexed." : "Words are indexed." },
      { step: "watch", description: "Changes of the folder are followed." },
    ];
  }
}
