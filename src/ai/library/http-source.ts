/** A source that is an HTTP server with bundles: GET {base}/{name}/{tag}/manifest.json and the files beside it. */
import { bundleOffer, MANIFEST_BYTES_MAX } from "./bundle-offer.js";
import { type HttpAnswer, type HttpClient, readShort, shown } from "./http-client.js";
import type { ModelReference } from "./model-reference.js";
import type { FileBytes, ModelSource, Offer } from "./model-source.js";
import { SourceError } from "./source-error.js";

export class HttpSource implements ModelSource {
  constructor(
    readonly name: string,
    private readonly base: string,
    private readonly client: HttpClient,
  ) {}

  async find(model: ModelReference, signal: AbortSignal): Promise<Offer | null> {
    const bundle = `${this.base}/${model.name}/${model.tag}/`;
    const url = new URL(`${bundle}manifest.json`);
    const answer = await this.client.request(url, { method: "GET", signal }, [404, 410]);
    if (answer.status !== 200) {
      answer.body.destroy();
      return null;
    }
    const manifest = await readShort(answer, MANIFEST_BYTES_MAX, shown(url));
    return bundleOffer(manifest, model, (file, from, abort) =>
      openUrl(this.client, new URL(bundle + file), from, null, abort),
    );
  }
}

/**
 * A file's bytes from that one on. `validator`: an ETag, with which the server is asked for the rest only if the file
 * is still the same.
 */
export async function openUrl(
  client: HttpClient,
  url: URL,
  from: number,
  validator: string | null,
  signal: AbortSignal,
): Promise<FileBytes> {
  const headers = {
    ...(from === 0 ? {} : { range: `bytes=${from}-` }),
    ...(from === 0 || validator === null ? {} : { "if-range": validator }),
  };
  const answer = await client.request(url, { method: "GET", headers, signal }, [416]);
  if (answer.status === 416) {
    answer.body.destroy();
    // There is no such part: the part that is here is not of this file.
    if (from === 0) throw new SourceError(`${shown(url)} answered 416`, false);
    return openUrl(client, url, 0, null, signal);
  }
  if (answer.status === 206) return { ...rangeOf(answer, url), stream: answer.body };
  const length = answer.headers["content-length"];
  return { from: 0, bytesTotal: length === undefined ? null : Number(length), stream: answer.body };
}

function rangeOf(
  { headers, body }: HttpAnswer,
  url: URL,
): { readonly from: number; readonly bytesTotal: number | null } {
  const match = /^bytes (\d+)-\d+\/(\d+|\*)$/.exec(headers["content-range"] ?? "");
  if (match !== null) return { from: Number(match[1]), bytesTotal: match[2] === "*" ? null : Number(match[2]) };
  body.destroy();
  throw new SourceError(`${shown(url)} answered 206 without naming the part`, false);
}
