/**
 * A source that is a hub like Hugging Face: GET {base}/{repository}/resolve/{revision}/{file}. It serves the models of
 * known-models.ts. All files are taken from one commit, which the hub's first answer names. For large files the hub
 * gives the SHA-256 (X-Linked-Etag), for small ones git's digest (ETag). Made by the library.
 */
import { type HttpAnswer, type HttpClient, shown } from "./http-client.js";
import { openUrl } from "./http-source.js";
import { bundleName, hubManifest } from "./hub-manifest.js";
import { type HubFiles, type KnownModel, knownModel } from "./known-models.js";
import type { ModelReference } from "./model-reference.js";
import type { FileDigest, ModelSource, Offer, OfferedFile } from "./model-source.js";
import { SourceError } from "./source-error.js";

export class HubSource implements ModelSource {
  constructor(
    readonly name: string,
    private readonly base: string,
    private readonly client: HttpClient,
  ) {}

  async find({ name, tag }: ModelReference, signal: AbortSignal): Promise<Offer | null> {
    const known = knownModel(name);
    const form = known?.tags[tag];
    if (known === null || form === undefined) return null;
    const repository: Repository = { base: this.base, client: this.client, form, commit: null };
    const files: OfferedFile[] = [];
    for (const { path, required } of wanted(known, form)) {
      const file = await repositoryFile(repository, path, signal);
      if (file !== null) files.push(file);
      else if (required) throw new SourceError(`${form.repository} has no ${path}`, false);
    }
    const revision = repository.commit ?? form.revision;
    return {
      id: known.name,
      digest: null,
      files,
      manifest: (stored) => hubManifest({ known, form, revision, files: stored }),
    };
  }
}

interface WantedFile {
  readonly path: string;
  readonly required: boolean;
}

/** Small ones first: without them a large one is not worth its way. */
function wanted({ kind }: KnownModel, { onnx, image, sound, data = [] }: HubFiles): WantedFile[] {
  const need = (path: string) => ({ path, required: true });
  const like = (path: string) => ({ path, required: false });
  const ofGeneration = [need("tokenizer_config.json"), like("generation_config.json"), like("chat_template.jinja")];
  const ofImages = image === undefined ? [] : [need("preprocessor_config.json")];
  const ofSpeech = [need("generation_config.json")];
  const more = kind === "generation" ? ofGeneration : kind === "speech" ? ofSpeech : ofImages;
  const graphs = [onnx, image, sound].filter((graph) => graph !== undefined);
  return [need("config.json"), ...more, need("tokenizer.json"), ...graphs.map(need), ...data.map(need)];
}

interface Repository {
  readonly base: string;
  readonly client: HttpClient;
  readonly form: HubFiles;
  /** That all files are taken of, once it is known. */
  commit: string | null;
}

const SHA256 = /^[0-9a-f]{64}$/;
const SHA1 = /^[0-9a-f]{40}$/;

/** Null: the repository has no such file. */
async function repositoryFile(repository: Repository, path: string, signal: AbortSignal): Promise<OfferedFile | null> {
  const { base, client, form } = repository;
  const urlOf = () => new URL(`${base}/${form.repository}/resolve/${repository.commit ?? form.revision}/${path}`);
  // A redirect to where the bytes are says what is asked for; there is no need to follow it.
  const answer = await client.request(urlOf(), { method: "HEAD", signal, stayHome: true }, [404]);
  answer.body.destroy();
  if (answer.status === 404) {
    if (repository.commit === null) throw new SourceError(`${shown(urlOf())} is not there`, false);
    return null;
  }
  const commit = answer.fromHome("x-repo-commit");
  if (repository.commit === null && commit !== undefined && SHA1.test(commit)) repository.commit = commit;
  const url = urlOf();
  const digest = digestOf(answer);
  const etag = answer.fromHome("etag");
  const validator = digest === null && etag?.startsWith('"') ? etag : null;
  return {
    name: bundleName(path),
    bytes: sizeOf(answer),
    digest,
    identity: digest?.value ?? (validator === null ? null : `${url} ${validator}`),
    open: (from, abort) => openUrl(client, url, from, validator, abort),
  };
}

function digestOf(answer: HttpAnswer): FileDigest | null {
  const linked = answer.fromHome("x-linked-etag");
  const value = (linked ?? answer.fromHome("etag"))?.replace(/^W\//, "").replaceAll('"', "");
  if (value === undefined) return null;
  if (SHA256.test(value)) return { kind: "sha256", value };
  return SHA1.test(value) && linked === undefined ? { kind: "git", value } : null;
}

function sizeOf(answer: HttpAnswer): number | null {
  const linked = answer.fromHome("x-linked-size");
  if (linked !== undefined && /^\d{1,15}$/.test(linked)) return Number(linked);
  // Of a redirect the length is its own.
  const { "content-length": length } = answer.headers;
  return answer.status === 200 && length !== undefined ? Number(length) : null;
}
