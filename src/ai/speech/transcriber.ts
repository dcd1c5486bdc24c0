/**
 * Transcribes a sound, by ONNX Runtime in an inference thread (runners.ts). A bundle of kind `speech` has a graph that
 * encodes sound (input_features, the logarithms of energy in mel bands, to last_hidden_state) and one that writes.
 * Radford et al., "Robust speech recognition via large-scale weak supervision" (Whisper), 2022; other models of this
 * form work, too.
 *
 *   samples ─ a window of 30 s ─▶ LogMel ─▶ ears ─▶ SpeechDecoder ⇄ nextToken ─▶ stretchesOf ─▶ segments
 *                                 (then the next window)
 *
 * Greedy: the likeliest token, without the larger temperatures that Whisper falls back on. Silent windows are skipped,
 * because models invent words for silence.
 */
import { Tokenizer } from "@huggingface/tokenizers";
import { type InferenceSession, Tensor } from "onnxruntime-node";
import { readBundleFile } from "../bundle.js";
import type { GenerationEnd, GenerationRequest, SoundItem, SpokenSegment } from "../inference-messages.js";
import { BundleError, type Manifest } from "../manifest.js";
import { openSession } from "../onnx-session.js";
import type { StreamRunner } from "../runner.js";
import { LogMel, RATE, WINDOW_FRAMES, WINDOW_SAMPLES } from "./log-mel.js";
import { stretchesOf } from "./segments.js";
import { SpeechDecoder } from "./speech-decoder.js";
import { logOfSum, nextToken, type TokenRules } from "./token-rules.js";

type SpeechFacts = NonNullable<Manifest["speech"]>;

const FEATURE_INPUTS = /^input_features$/;
/** Of int16 samples: what is quieter than -60 dB is silence. */
const QUIET = 32;
/** Whisper's own: nothing is said where that is this likely, and the words less sure than this. */
const NO_SPEECH = 0.6;
const UNSURE = -1;
/** What is left of a sound is no window of its own when it is shorter, in samples. */
const REST = RATE / 10;

/** Throws BundleError, also when a graph cannot be run. */
export async function loadTranscriber(directory: string, manifest: Manifest, threads: number): Promise<Transcriber> {
  const { speech } = manifest;
  const { start_token_id: start, eos_token_ids: [end] = [] } = manifest.generation ?? {};
  if (speech === undefined || start === undefined || end === undefined) {
    throw new BundleError("manifest.json: speech needs generation with start_token_id and eos_token_ids");
  }
  const ears = await openSession(directory, manifest, threads, FEATURE_INPUTS, speech.onnx);
  let decoder: SpeechDecoder | null = null;
  try {
    decoder = await SpeechDecoder.load(directory, manifest, threads);
    const tokenizer = new Tokenizer(JSON.parse(readBundleFile(directory, manifest, manifest.tokenizer).toString()), {});
    const transcriber = new Transcriber(ears.session, decoder, tokenizer, { manifest, speech, start, end }, ears.bytes);
    await transcriber.tryOut();
    return transcriber;
  } catch (error) {
    await ears.session.release();
    await decoder?.release();
    throw error instanceof BundleError
      ? error
      : new BundleError(`the model cannot be used: ${(error as Error).message}`);
  }
}

interface Facts {
  readonly manifest: Manifest;
  readonly speech: SpeechFacts;
  readonly start: number;
  readonly end: number;
}

/** Of one transcription. */
interface Course {
  readonly signal: AbortSignal;
  language: string | null;
  inputTokens: number;
  outputTokens: number;
}

export class Transcriber implements StreamRunner {
  readonly form = "stream";
  readonly bytes: number;
  private readonly mel: LogMel;
  private readonly rules: TokenRules;

  constructor(
    private readonly ears: InferenceSession,
    private readonly decoder: SpeechDecoder,
    private readonly tokenizer: Tokenizer,
    private readonly facts: Facts,
    bytes: number,
  ) {
    const { speech, end } = facts;
    this.mel = new LogMel(speech.mels);
    // Of one window: samples, features, and what tables and buffers take.
    this.bytes = bytes + decoder.bytes + 4 * (WINDOW_SAMPLES + WINDOW_FRAMES * speech.mels) + 1024 * 1024;
    this.rules = {
      end,
      firstTime: speech.no_timestamps_token_id === undefined ? null : speech.no_timestamps_token_id + 1,
      suppressed: new Set(speech.suppressed_token_ids),
      suppressedFirst: new Set([...(speech.first_suppressed_token_ids ?? []), end]),
    };
  }

  async run(request: GenerationRequest, say: (text: string) => void, signal: AbortSignal): Promise<GenerationEnd> {
    const { sound } = request;
    if (sound === undefined) throw new Error("the model writes what is said in a sound, and was given none");
    const course: Course = { signal, language: sound.language, inputTokens: 0, outputTokens: 0 };
    const segments: SpokenSegment[] = [];
    let reason: GenerationEnd["reason"] = "stop";
    for (let from = 0; sound.samples - from > REST || from === 0; ) {
      await breath();
      const samples = windowOf(sound, from);
      const seconds = samples.length / RATE;
      const tokens = isQuiet(samples) ? [] : await this.write(samples, course);
      if (signal.aborted) {
        reason = "cancelled";
        break;
      }
      const { stretches, next } = stretchesOf(tokens, this.rules.firstTime, seconds);
      for (const stretch of stretches) {
        const text = this.textOf(stretch.tokens);
        if (text === "") continue;
        say(segments.length === 0 ? text : ` ${text}`);
        const at = from / RATE;
        segments.push({ start: hundredths(at + stretch.start), end: hundredths(at + stretch.end), text });
      }
      from += Math.max(1, Math.round(next * RATE));
    }
    const { language, inputTokens, outputTokens } = course;
    return { reason, inputTokens, outputTokens, segments, language };
  }

  async release(): Promise<void> {
    await this.ears.release();
    await this.decoder.release();
  }

  /** Loading reports a graph that cannot be run. */
  async tryOut(): Promise<void> {
    const { start } = this.facts;
    const writing = this.decoder.begin(await this.hear(new Float32Array(RATE)));
    const logits = await this.decoder.read(writing, [start]);
    const width = logits.row(0).length;
    const { speech, end } = this.facts;
    const named = [start, end, speech.transcribe_token_id, speech.no_timestamps_token_id];
    const wrong = [...named, ...Object.values(speech.languages ?? {})].find((id) => id !== undefined && id >= width);
    if (wrong !== undefined) throw new BundleError(`the manifest names the token ${wrong}, the model knows ${width}`);
  }

  /** Tokens of a window, times among them. */
  private async write(samples: Int16Array, course: Course): Promise<readonly number[]> {
    const { decoder, rules } = this;
    const heard = await this.hear(Float32Array.from(samples, (x) => x / 0x8000));
    const prompt = await this.promptFor(heard, course);
    const writing = decoder.begin(heard);
    let logits = await decoder.read(writing, prompt);
    const silence = this.silenceOf(logits.row(0));
    course.inputTokens += prompt.length;
    const said: number[] = [];
    let sum = 0;
    const room = this.facts.manifest.max_length - prompt.length;
    const tokensMax = Math.min(
      room,
      this.facts.speech.window_tokens_max ?? Math.floor(this.facts.manifest.max_length / 2),
    );
    while (said.length < tokensMax) {
      await breath();
      if (course.signal.aborted) return [];
      const { id, log } = nextToken(logits.row(logits.rows - 1), said, rules);
      sum += log;
      course.outputTokens++;
      if (id === rules.end) break;
      said.push(id);
      logits = await decoder.read(writing, [id]);
    }
    return silence > NO_SPEECH && sum / (said.length + 1) < UNSURE ? [] : said;
  }

  /** Start, language and task, as far as the model knows such. */
  private async promptFor(heard: Tensor, course: Course): Promise<number[]> {
    const { start, speech } = this.facts;
    const prompt = [start];
    if (speech.languages !== undefined) {
      course.language ??= await this.languageOf(heard, speech.languages);
      prompt.push(speech.languages[course.language]!);
    }
    if (speech.transcribe_token_id !== undefined) prompt.push(speech.transcribe_token_id);
    return prompt;
  }

  private async languageOf(heard: Tensor, languages: NonNullable<SpeechFacts["languages"]>): Promise<string> {
    const logits = (await this.decoder.read(this.decoder.begin(heard), [this.facts.start])).row(0);
    const byLikelihood = Object.entries(languages).sort(([, one], [, other]) => logits[other]! - logits[one]!);
    return byLikelihood[0]![0];
  }

  /** How likely it is that nobody speaks. */
  private silenceOf(logits: Float32Array): number {
    const { no_speech_token_id: id } = this.facts.speech;
    return id === undefined ? 0 : Math.exp(logits[id]! - logOfSum(logits, 0, logits.length));
  }

  private async hear(samples: Float32Array): Promise<Tensor> {
    const { ears, facts } = this;
    const features = new Tensor("float32", this.mel.of(samples), [1, facts.speech.mels, WINDOW_FRAMES]);
    const outputs = await ears.run({ [ears.inputNames[0]!]: features });
    const heard = outputs.last_hidden_state ?? outputs[ears.outputNames[0]!]!;
    if (heard.type === "float32" && heard.dims.length === 3 && heard.dims[0] === 1) return heard;
    throw new BundleError(`the model gives ${heard.type} [${heard.dims}], not vectors of what it hears`);
  }

  private textOf(tokens: readonly number[]): string {
    const options = { skip_special_tokens: true, clean_up_tokenization_spaces: false };
    return this.tokenizer
      .decode([...tokens], options)
      .replaceAll(/\s+/g, " ")
      .trim();
  }
}

/** Messages are heard, and other models get their turns. */
function breath(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

function windowOf({ parts, samples }: SoundItem, from: number): Int16Array {
  const window = new Int16Array(Math.min(WINDOW_SAMPLES, samples - from));
  let start = 0;
  for (const part of parts) {
    const first = Math.max(from, start);
    const end = Math.min(from + window.length, start + part.length);
    if (first < end) window.set(part.subarray(first - start, end - start), first - from);
    start += part.length;
  }
  return window;
}

function isQuiet(samples: Int16Array): boolean {
  return samples.every((x) => x < QUIET && x > -QUIET);
}

function hundredths(seconds: number): number {
  return Math.round(seconds * 100) / 100;
}
