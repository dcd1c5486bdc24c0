/**
 * Generates texts, several at a time (continuous batching: Yu et al., Orca, OSDI 2022). In turn it reads some of the
 * waiting prompts, and lets a group of texts grow by a token each. After each such run the thread handles messages,
 * and other models get their turns. Made by runners.ts in an inference thread; owned by its pool.
 *
 * The texts of a group share runs, and a cache in which shorter ones are padded on the left. Numbers that are rounded
 * per run (int8 products) then depend on the neighbours. So a text with a seed is in a group of its own, and is the
 * same whenever it is asked for.
 */
import type { GenerationEnd, GenerationRequest } from "../inference-messages.js";
import type { Manifest } from "../manifest.js";
import type { LoadRunner, StreamRunner } from "../runner.js";
import { type Cache, DecoderSession } from "./decoder-session.js";
import { Prompts } from "./prompt.js";
import { Sampler } from "./sampler.js";
import { TextOutput } from "./text-output.js";

/** Texts of a group: more share a run better, fewer keep it short. */
const GROUP_MAX = 16;
/** Of prompts that are read in a turn. */
const PROMPT_TOKENS_PER_TURN = 64;
/** Of all caches; texts beyond wait. */
const CACHE_BYTES_MAX = 512 * 1024 * 1024;
/** Of the context, what is left for an answer when it wants as much or more. */
const ANSWER_SHARE = 1 / 4;

/** Of a text whose cache is a row of its group's. */
const NO_CACHE: Cache = { rows: 0, length: 0, arrays: [] };

interface Text {
  readonly prompt: readonly number[];
  readonly sampler: Sampler;
  readonly output: TextOutput;
  readonly tokensMax: number;
  readonly alone: boolean;
  /** Of its cache when it is as long as it may become. */
  readonly cacheBytes: number;
  readonly say: (text: string) => void;
  readonly signal: AbortSignal;
  readonly finish: (end: GenerationEnd) => void;
  readonly fail: (error: Error) => void;
  /** Its own while its prompt is read. */
  cache: Cache;
  /** In its cache, or its row of the group's. */
  length: number;
  outputTokens: number;
  /** To be read next. */
  last: number;
}

interface Group {
  texts: Text[];
  /** Its rows are `rows`; some of these may have left, others of `texts` have joined. */
  cache: Cache | null;
  rows: readonly Text[];
  readonly alone: boolean;
}

export const loadDecoder: LoadRunner = async (directory, manifest, threads) => {
  const prompts = Prompts.load(directory, manifest);
  return new Decoder(await DecoderSession.load(directory, manifest, threads), prompts, manifest);
};

export class Decoder implements StreamRunner {
  readonly form = "stream";
  private readonly waiting: Text[] = [];
  private reading: Text[] = [];
  private groups: Group[] = [];
  private cacheBytes = 0;
  private working = false;

  constructor(
    private readonly session: DecoderSession,
    private readonly prompts: Prompts,
    private readonly manifest: Manifest,
  ) {}

  get bytes(): number {
    return this.session.bytes + CACHE_BYTES_MAX / 8;
  }

  run(request: GenerationRequest, say: (text: string) => void, signal: AbortSignal): Promise<GenerationEnd> {
    return new Promise((finish, fail) => {
      const text = this.begin(request, say, signal, finish, fail);
      this.waiting.push(text);
      if (!this.working) void this.work();
    });
  }

  release(): Promise<void> {
    return this.session.release();
  }

  private begin(
    request: GenerationRequest,
    say: Text["say"],
    signal: AbortSignal,
    finish: Text["finish"],
    fail: Text["fail"],
  ): Text {
    const context = this.manifest.max_length;
    const reserve = Math.min(request.tokensMax, Math.ceil(context * ANSWER_SHARE));
    const prompt = this.prompts.ids(request.messages, context - reserve);
    const tokensMax = Math.min(request.tokensMax, context - prompt.length);
    const { temperature, topP, topK = 0, seed } = request;
    return {
      prompt,
      sampler: new Sampler({ temperature, topP, topK, seed }),
      output: new TextOutput(this.prompts.decode, request.stop),
      tokensMax,
      alone: seed !== null,
      cacheBytes: (prompt.length + tokensMax) * this.session.bytesPerToken,
      say,
      signal,
      finish,
      fail,
      cache: this.session.empty(),
      length: 0,
      outputTokens: 0,
      last: 0,
    };
  }

  /** Until nothing is left to do. */
  private async work(): Promise<void> {
    this.working = true;
    while (this.waiting.length + this.reading.length + this.groups.length > 0) {
      this.admit();
      await this.readPrompts();
      const group = this.groups.shift();
      if (group !== undefined) {
        const went = await this.guarded(group.texts, () => this.grow(group));
        if (went && group.texts.length > 0) this.groups.push(group);
      }
      // Messages are heard, and batches of other models run.
      await new Promise((resolve) => setImmediate(resolve));
    }
    this.working = false;
  }

  /** So many tokens of a long prompt, or of several short ones. */
  private async readPrompts(): Promise<void> {
    for (let left = PROMPT_TOKENS_PER_TURN; left > 0; ) {
      const [text] = this.reading;
      if (text === undefined) return;
      left -= text.prompt.length - text.length;
      await this.guarded([text], () => this.readSome(text));
    }
  }

  /** What fails a run fails its texts, and only these. Answers whether it went well. */
  private async guarded(texts: readonly Text[], run: () => Promise<void>): Promise<boolean> {
    try {
      await run();
      return true;
    } catch (error) {
      for (const text of [...texts]) {
        this.leave(text);
        text.fail(error as Error);
      }
      return false;
    }
  }

  private admit(): void {
    for (const text of this.waiting.filter(({ signal }) => signal.aborted)) {
      this.waiting.splice(this.waiting.indexOf(text), 1);
      text.finish({ reason: "cancelled", inputTokens: 0, outputTokens: 0 });
    }
    for (;;) {
      const [text] = this.waiting;
      const isFree = this.cacheBytes === 0;
      if (text === undefined || (!isFree && this.cacheBytes + text.cacheBytes > CACHE_BYTES_MAX)) return;
      this.waiting.shift();
      this.cacheBytes += text.cacheBytes;
      this.reading.push(text);
    }
  }

  /** A part of the prompt; after the last one the first token is chosen. Prompts are read in the order they came. */
  private async readSome(text: Text): Promise<void> {
    if (text.signal.aborted) {
      this.finish(text, "cancelled");
      return;
    }
    const ids = text.prompt.slice(text.length, text.length + PROMPT_TOKENS_PER_TURN);
    const { logits, cache } = await this.session.run({ ids: [ids], lengths: [text.length], cache: text.cache });
    text.cache = cache;
    text.length += ids.length;
    if (text.length < text.prompt.length) return;
    this.reading.splice(this.reading.indexOf(text), 1);
    if (this.took(text, logits[0]!)) this.join(text);
  }

  private join(text: Text): void {
    const free = this.groups.filter(({ alone, texts }) => !alone && texts.length < GROUP_MAX);
    // Where the least is filled up.
    const distance = ({ texts }: Group) => Math.abs(Math.max(...texts.map(({ length }) => length)) - text.length);
    const group = text.alone ? undefined : free.sort((one, other) => distance(one) - distance(other))[0];
    if (group !== undefined) group.texts.push(text);
    else this.groups.push({ texts: [text], cache: null, rows: [], alone: text.alone });
  }

  private async grow(group: Group): Promise<void> {
    for (const text of [...group.texts]) {
      if (text.signal.aborted) {
        this.finish(text, "cancelled");
        group.texts.splice(group.texts.indexOf(text), 1);
      }
    }
    const { texts } = group;
    if (texts.length === 0) return;
    const { logits, cache } = await this.session.run({
      ids: texts.map(({ last }) => [last]),
      lengths: texts.map(({ length }) => length),
      cache: this.cacheOf(group),
    });
    group.cache = cache;
    group.rows = texts;
    group.texts = texts.filter((text, row) => {
      text.length++;
      return this.took(text, logits[row]!);
    });
  }

  /** The group's cache with a row for each of its texts. */
  private cacheOf({ texts, cache, rows }: Group): Cache {
    if (cache !== null && texts.length === rows.length && texts.every((text, row) => rows[row] === text)) return cache;
    const gathered = texts.map((text) => {
      const row = rows.indexOf(text);
      return row >= 0
        ? { cache: cache!, row, length: text.length }
        : { cache: text.cache, row: 0, length: text.length };
    });
    const made = this.session.gather(gathered);
    for (const text of texts) text.cache = NO_CACHE;
    return made;
  }

  /** The next token of a text. False: it has ended. */
  private took(text: Text, logits: Float32Array): boolean {
    const { output, sampler, tokensMax } = text;
    const id = sampler.next(logits);
    if (this.prompts.ends.has(id)) {
      this.finish(text, "stop");
      return false;
    }
    text.outputTokens++;
    text.last = id;
    const said = output.add(id);
    if (said !== "") text.say(said);
    if (!output.isStopped && text.outputTokens < tokensMax) return true;
    this.finish(text, output.isStopped ? "stop" : "length");
    return false;
  }

  private finish(text: Text, reason: GenerationEnd["reason"]): void {
    this.leave(text);
    const rest = reason === "cancelled" ? "" : text.output.end();
    if (rest !== "") text.say(rest);
    text.finish({ reason, inputTokens: text.prompt.length, outputTokens: text.outputTokens });
  }

  private leave(text: Text): void {
    this.cacheBytes -= text.cacheBytes;
    const at = this.reading.indexOf(text);
    if (at >= 0) this.reading.splice(at, 1);
  }
}
