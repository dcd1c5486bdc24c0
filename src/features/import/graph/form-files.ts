/**
 * The files of a body of multipart/form-data, one after the other and none of them in memory as a whole. Called by
 * graph-routes.ts.
 */
import { Readable } from "node:stream";
import { Busboy } from "@fastify/busboy";
import { DbError } from "../../../protocol/errors.js";

export interface FormFile {
  /** Of the part. */
  readonly name: string;
  readonly fileName: string;
  readonly pieces: AsyncIterable<Uint8Array>;
}

const NAME_BYTES_MAX = 4096;
const FILES_MAX = 10_000;

function wrongForm(message: string): DbError {
  return new DbError("invalid_request", message, { hint: "curl -F nodes=@people.csv sends a file as it is expected." });
}

/** Parts that have arrived, and who waits for them. */
class Parts {
  private readonly files: { readonly name: string; readonly fileName: string; readonly stream: Readable }[] = [];
  private failure: unknown = null;
  private ended = false;
  private current: Readable | null = null;
  private wake: (() => void) | null = null;

  add(name: string, fileName: string, stream: Readable): void {
    // What is read of it throws the error.
    stream.on("error", () => undefined);
    this.files.push({ name, fileName, stream });
    if (this.failure !== null) stream.destroy(this.failure as Error);
    this.wake?.();
  }

  end(): void {
    this.ended = true;
    this.wake?.();
  }

  fail(error: unknown): void {
    if (this.failure !== null) return;
    this.failure = error;
    this.current?.destroy(error as Error);
    for (const { stream } of this.files) stream.destroy(error as Error);
    this.wake?.();
  }

  async *each(): AsyncIterable<FormFile> {
    for (;;) {
      if (this.failure !== null) throw this.failure;
      const file = this.files.shift();
      if (file !== undefined) {
        this.current = file.stream;
        yield { name: file.name, fileName: file.fileName, pieces: file.stream };
        if (this.failure !== null) throw this.failure;
        this.current = null;
      } else if (this.ended) return;
      else {
        await new Promise<void>((resolve) => {
          this.wake = resolve;
        });
        this.wake = null;
      }
    }
  }
}

/** Each file is to be read to its end before the next is asked for. Throws unsupported_media_type. */
export async function* formFiles(pieces: AsyncIterable<Uint8Array>, contentType: string): AsyncIterable<FormFile> {
  if (!/^multipart\/form-data\s*;.*boundary=/i.test(contentType)) {
    throw new DbError("unsupported_media_type", "Send the files as multipart/form-data.", {
      hint: "curl -F nodes=@people.csv -F relationships:KNOWS=@knows.csv sends two files.",
    });
  }
  const parts = new Parts();
  const form = new Busboy({
    headers: { "content-type": contentType },
    limits: { fieldNameSize: NAME_BYTES_MAX, files: FILES_MAX, fileSize: Number.POSITIVE_INFINITY },
  });
  let count = 0;
  form.on("file", (name: string | undefined, stream, fileName) => {
    count++;
    if (name === undefined) parts.fail(wrongForm(`The part ${count} of the form has no name.`));
    parts.add(name ?? "", fileName || name || "", stream);
  });
  form.on("field", (name: string | undefined) => {
    parts.fail(wrongForm(name === undefined ? "A part of the form has no name." : `The part "${name}" is no file.`));
  });
  form.on("filesLimit", () => parts.fail(wrongForm(`The form has more than ${FILES_MAX} files.`)));
  form.on("error", (error) => {
    parts.fail(error instanceof DbError ? error : wrongForm(`The form is not valid: ${(error as Error).message}.`));
  });
  form.on("finish", () => {
    const skipped = partsOf(form) - count;
    if (skipped > 0) {
      parts.fail(wrongForm(`${skipped} of the form's parts have no valid Content-Disposition with a name.`));
    }
    parts.end();
  });
  const source = Readable.from(copies(pieces), { objectMode: false });
  source.on("error", (error) => {
    parts.fail(error);
    form.destroy();
  });
  source.pipe(form);
  try {
    yield* parts.each();
  } finally {
    source.unpipe(form);
    source.destroy();
    form.destroy();
  }
}

/** Also those that Busboy skips without a word, because their Content-Disposition is missing or not valid. */
function partsOf(form: unknown): number {
  return (form as { readonly _parser: { readonly _nparts: number } })._parser._nparts;
}

/** The form keeps pieces for longer than the body does. */
async function* copies(pieces: AsyncIterable<Uint8Array>): AsyncIterable<Uint8Array> {
  for await (const piece of pieces) yield Buffer.from(piece);
}
