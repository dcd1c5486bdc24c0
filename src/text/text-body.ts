/**
 * An inverted index of texts in memory, with the words' places: which documents have a term, and of each document its
 * terms, so that it can be taken out and phrases be looked for. Scores are BM25 (Robertson and Zaragoza, "The
 * Probabilistic Relevance Framework: BM25 and Beyond", 2009) over the documents that are there now.
 */
import type { IndexBody } from "../derived/index-body.js";
import { type Analyzer, analyzerOf, atOnce } from "./analysis.js";
import { DocumentTerms, type TextItem, termsInSteps } from "./document-terms.js";
import { ENTRY_BYTES, PostingList } from "./posting-list.js";
import { NO_STATISTICS, type TextStatistics } from "./text-statistics.js";

/** Terms that a prefix is looked for among one by one. */
const UNORDERED_MAX = 2000;
/** Between two pauses, when it is saved or loaded. */
const SAVED_WORDS = 64 * 1024;
const STEP_TERMS = 1024;
const STEP_DOCUMENTS = 16;
/** The number of no term. */
const UNKNOWN_TERM = 0xffffffff;
const TERM_BYTES = 120;
const LENGTHS_ROOM_MIN = 64;
const DOCUMENT_BYTES = 120;

export class TextBody implements IndexBody<TextItem>, TextStatistics {
  readonly analyzer: Analyzer;
  /** By term. Documents hold the term's number. */
  private readonly numbers = new Map<string, number>();
  readonly terms: string[] = [];
  private readonly lists: PostingList[] = [];
  /** By slot; null where it is free. */
  private readonly documents: (DocumentTerms | null)[] = [];
  private readonly free: number[] = [];
  /** Words of the document in a slot, side by side: scores read them of every document that has a term. */
  private lengths = new Uint32Array(LENGTHS_ROOM_MIN);
  /** By slot, zero between searches. */
  private sums = new Float64Array(0);
  /** Words of all documents together. */
  private words = 0;
  private listBytes = 0;
  private documentBytes = 0;
  /** Terms in order, of those with smaller numbers than this; for prefixes. */
  private ordered: readonly string[] = [];
  private orderedUpTo = 0;

  constructor(readonly language: string) {
    this.analyzer = analyzerOf(language);
  }

  get count(): number {
    return this.documents.length - this.free.length;
  }

  get slotCount(): number {
    return this.documents.length;
  }

  get bytes(): number {
    return (
      this.listBytes +
      this.documentBytes +
      this.terms.length * TERM_BYTES +
      this.documents.length * 8 +
      this.lengths.length * 12
    );
  }

  /** Words per document. */
  get meanLength(): number {
    return this.words === 0 ? 1 : this.words / this.count;
  }

  add(item: TextItem): number {
    return atOnce(this.addInSteps(item));
  }

  *addInSteps(item: TextItem): Generator<undefined, number> {
    const document = yield* termsInSteps(item, this.analyzer, (term) => this.numberOf(term));
    const slot = this.free.pop() ?? this.documents.length;
    yield* this.put(slot, document);
    return slot;
  }

  remove(slot: number): void {
    atOnce(this.removeInSteps(slot));
  }

  *removeInSteps(slot: number): Generator<undefined, void> {
    const document = this.documents[slot]!;
    for (let i = 0; i < document.count; i++) {
      this.change(document.term(i), (list) => list.remove(slot));
      if (i % STEP_TERMS === STEP_TERMS - 1) yield;
    }
    this.documents[slot] = null;
    this.free.push(slot);
    this.words -= document.length;
    this.documentBytes -= DOCUMENT_BYTES + document.bytes;
  }

  holds(slot: number, item: TextItem): boolean {
    return atOnce(this.holdsInSteps(slot, item));
  }

  *holdsInSteps(slot: number, item: TextItem): Generator<undefined, boolean> {
    const document = yield* termsInSteps(item, this.analyzer, (term) => this.numbers.get(term) ?? UNKNOWN_TERM);
    return document.equals(this.documents[slot]!);
  }

  /** Everything is done when a text is taken. */
  get hasWork(): boolean {
    return false;
  }

  work(): void {}

  /** The list of a term; undefined: no document has had it. */
  list(term: string): PostingList | undefined {
    const number = this.numbers.get(term);
    return number === undefined ? undefined : this.lists[number];
  }

  documentsWith(term: string): number {
    return this.list(term)?.length ?? 0;
  }

  number(term: string): number | undefined {
    return this.numbers.get(term);
  }

  document(slot: number): DocumentTerms | null {
    return this.documents[slot] ?? null;
  }

  /** By slot: how many words the document has. Only read before the next change. */
  get documentLengths(): Uint32Array {
    return this.lengths;
  }

  /** A number for each slot, all 0; who takes it leaves it so. */
  emptySums(): Float64Array {
    if (this.sums.length < this.slotCount) this.sums = new Float64Array(this.lengths.length);
    return this.sums;
  }

  /** Terms that begin so, of documents and of those that `all` counts, at most `most`. */
  termsWith(prefix: string, most: number, all: TextStatistics): readonly string[] {
    const found: string[] = [];
    // Without statistics nobody knows which documents count.
    const isCounted = (term: string) => all === NO_STATISTICS || all.documentsWith(term) > 0;
    const offer = (term: string) => {
      if (found.length < most && this.list(term)!.length > 0 && isCounted(term)) found.push(term);
    };
    const ordered = this.inOrder();
    let at = placeOf(prefix, ordered);
    for (; at < ordered.length && ordered[at]!.startsWith(prefix); at++) offer(ordered[at]!);
    for (let number = this.orderedUpTo; number < this.terms.length; number++) {
      if (this.terms[number]!.startsWith(prefix)) offer(this.terms[number]!);
    }
    return found;
  }

  *save(): Generator<Uint8Array> {
    const texts = Buffer.from(JSON.stringify(this.terms));
    const sizes = Uint32Array.from(this.documents, (document) => document?.words.length ?? 0);
    yield bytesOf(Uint32Array.of(texts.length, sizes.length));
    yield texts;
    yield bytesOf(sizes);
    let part: Uint32Array[] = [];
    let words = 0;
    for (const document of this.documents) {
      if (document === null) continue;
      part.push(document.words);
      words += document.words.length;
      if (words < SAVED_WORDS) continue;
      yield joined(part, words);
      part = [];
      words = 0;
    }
    yield joined(part, words);
  }

  /** With a pause now and then. Throws when the bytes are not what `save` gave. */
  static *load(language: string, bytes: Uint8Array): Generator<undefined, TextBody> {
    const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
    const body = new TextBody(language);
    const textsEnd = 8 + buffer.readUInt32LE(0);
    const terms = JSON.parse(buffer.toString("utf8", 8, textsEnd)) as string[];
    for (const term of terms) {
      if (body.numberOf(term) % STEP_TERMS === 0) yield;
    }
    const count = buffer.readUInt32LE(4);
    const sizes = wordsAt(buffer, textsEnd, count);
    let at = textsEnd + 4 * count;
    for (let slot = 0; slot < count; slot++) {
      const document = sizes[slot]! === 0 ? null : new DocumentTerms(wordsAt(buffer, at, sizes[slot]!));
      at += 4 * sizes[slot]!;
      body.documents.push(null);
      if (document === null) body.free.push(slot);
      else yield* body.put(slot, document);
      if (slot % STEP_DOCUMENTS === 0) yield;
    }
    if (at !== buffer.length) throw new Error("the text index has another length than it says");
    return body;
  }

  private *put(slot: number, document: DocumentTerms): Generator<undefined, void> {
    this.documents[slot] = document;
    this.setLength(slot, document.length);
    this.words += document.length;
    this.documentBytes += DOCUMENT_BYTES + document.bytes;
    for (let i = 0; i < document.count; i++) {
      this.change(document.term(i), (list) => list.add(slot, document.occurrences(i)));
      if (i % STEP_TERMS === STEP_TERMS - 1) yield;
    }
  }

  private setLength(slot: number, length: number): void {
    if (slot >= this.lengths.length) {
      const lengths = new Uint32Array(Math.max(2 * this.lengths.length, slot + 1));
      lengths.set(this.lengths);
      this.lengths = lengths;
    }
    this.lengths[slot] = length;
  }

  private numberOf(term: string): number {
    let number = this.numbers.get(term);
    if (number === undefined) {
      number = this.terms.length;
      this.numbers.set(term, number);
      this.terms.push(term);
      const list = new PostingList();
      this.lists.push(list);
      this.listBytes += list.bytes;
    }
    return number;
  }

  private change(number: number, how: (list: PostingList) => void): void {
    const list = this.lists[number]!;
    const { room } = list;
    how(list);
    this.listBytes += (list.room - room) * ENTRY_BYTES;
  }

  /** The first terms in order: all but some thousands at most, which came last. */
  private inOrder(): readonly string[] {
    if (this.terms.length - this.orderedUpTo > UNORDERED_MAX) {
      this.ordered = merged(this.ordered, this.terms.slice(this.orderedUpTo).sort(byCodeUnits));
      this.orderedUpTo = this.terms.length;
    }
    return this.ordered;
  }
}

/** Both are in order. */
function merged(a: readonly string[], b: readonly string[]): string[] {
  const all: string[] = [];
  let j = 0;
  for (const term of a) {
    while (j < b.length && b[j]! < term) all.push(b[j++]!);
    all.push(term);
  }
  while (j < b.length) all.push(b[j++]!);
  return all;
}

/** Of the first term that is not below. */
function placeOf(term: string, terms: readonly string[]): number {
  let low = 0;
  let high = terms.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (terms[middle]! < term) low = middle + 1;
    else high = middle;
  }
  return low;
}

function byCodeUnits(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

function bytesOf(words: Uint32Array): Uint8Array {
  return new Uint8Array(words.slice().buffer);
}

function joined(parts: readonly Uint32Array[], words: number): Uint8Array {
  const all = new Uint32Array(words);
  let at = 0;
  for (const part of parts) {
    all.set(part, at);
    at += part.length;
  }
  return new Uint8Array(all.buffer);
}

function wordsAt(buffer: Buffer, at: number, count: number): Uint32Array {
  const words = new Uint32Array(count);
  new Uint8Array(words.buffer).set(buffer.subarray(at, at + 4 * count));
  return words;
}
