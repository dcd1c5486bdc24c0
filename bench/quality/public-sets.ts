/**
 * Public data that `make quality` measures with where it is at hand: WordNet (`apt-get install wordnet-base`), captions
 * of the same pictures, STS-B and SNLI. The project ships none of it; what is missing is skipped, and the page says so.
 */
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "../servers.js";
import type { DescriptionSet } from "./retrieval.js";

const WORDNET = process.env.WORDNET ?? "/usr/share/wordnet";
/** The training data of the bundled models (models/train), with the parts that were held out of it. */
const DATA = process.env.QUALITY_DATA ?? join(ROOT, "../shared/models/data");
const PARTS_OF_SPEECH = ["noun", "verb", "adj", "adv"];
/** As models/train/embedding/data.py holds them out: one of so many groups. */
const HELD_OUT_ONE_IN = { wn: 50, cap: 25 } as const;
/** As models/train/nli/data.py does, by premise. */
const PAIRS_HELD_OUT_ONE_IN: Readonly<Record<string, number>> = { "snli-dev": 10 };
const OTHER_PAIRS_HELD_OUT_ONE_IN = 50;
const QUESTIONS_MAX = 400;
const BYTES_MAX = 2 ** 28;

/** Why a set is not there, or the set. */
export type Found<T> = { readonly set: T } | { readonly missing: string };
export type ScoredPair = readonly [first: string, second: string, score: number];
export type NliPair = readonly [premise: string, hypothesis: string, label: string];
export type SourcedPair = readonly [source: string, premise: string, hypothesis: string, label: string];

/** A gloss of WordNet is asked for; the lemmas of its synset are the document. */
export function glossSet(): Found<DescriptionSet> {
  const files = PARTS_OF_SPEECH.map((part) => join(WORDNET, `data.${part}`));
  const absent = files.find((file) => !existsSync(file));
  if (absent !== undefined) return { missing: `${absent} is not there (apt-get install wordnet-base, or WORDNET)` };
  const pairs = files.flatMap((file) =>
    readFileSync(file, "latin1")
      .split("\n")
      .filter((line) => /^\d/.test(line))
      .map(synsetOf)
      .filter(([lemmas]) => isHeldOut(lemmas[0]!, "wn"))
      .map(([lemmas, gloss]) => [gloss, lemmas.join(", ")] as const),
  );
  return { set: asSet(pairs) };
}

/** A caption is asked for; another caption of the same picture is the document. */
export function captionSet(): Found<DescriptionSet> {
  const read = lines("positive-groups.jsonl.xz");
  if ("missing" in read) return read;
  const groups = read.set.map((line) => JSON.parse(line) as [source: string, captions: string[]]);
  const held = groups.filter(([source, [first]]) => source === "cap" && isHeldOut(first!, "cap"));
  return { set: asSet(held.map(([, [first, second]]) => [first!, second!] as const)) };
}

/** STS-B test: pairs with a score of 0 to 5. */
export function similarPairs(): Found<readonly ScoredPair[]> {
  const read = lines("stsb.json.xz");
  return "missing" in read ? read : { set: JSON.parse(read.set.join("\n")).test };
}

/** SNLI test. */
export function nliPairs(): Found<readonly NliPair[]> {
  const read = lines("snli-test.jsonl.xz");
  return "missing" in read ? read : { set: read.set.map((line) => JSON.parse(line)) };
}

/** Pairs of the sources of nli-mini's training that were held out of it. */
export function heldOutPairs(): Found<readonly SourcedPair[]> {
  const read = lines("nli-train.jsonl.xz");
  if ("missing" in read) return read;
  const pairs = read.set.map((line) => JSON.parse(line) as SourcedPair);
  return {
    set: pairs.filter(
      ([source, premise]) => numberOf(premise) % (PAIRS_HELD_OUT_ONE_IN[source] ?? OTHER_PAIRS_HELD_OUT_ONE_IN) === 0,
    ),
  };
}

/** Texts that mean the same, of a source: captions of one picture (`cap`), a sentence and its split (`wsplit`). */
export function groupsOf(source: string): Found<readonly (readonly string[])[]> {
  const read = lines("positive-groups.jsonl.xz");
  if ("missing" in read) return read;
  const groups = read.set.map((line) => JSON.parse(line) as [source: string, texts: string[]]);
  return { set: groups.filter(([own]) => own === source).map(([, texts]) => texts) };
}

function lines(name: string): Found<readonly string[]> {
  const file = join(DATA, name);
  if (!existsSync(file)) return { missing: `${name} is not there (QUALITY_DATA names its folder)` };
  const text = execFileSync("xz", ["-dc", file], { encoding: "utf8", maxBuffer: BYTES_MAX });
  return { set: text.trim().split("\n") };
}

/** "00001740 03 n 01 entity 0 003 … | that which is perceived …; "an example"". */
function synsetOf(line: string): readonly [lemmas: readonly string[], gloss: string] {
  const [data, ...gloss] = line.split(" | ");
  const fields = data!.split(" ");
  const count = Number.parseInt(fields[3]!, 16);
  const lemmas = Array.from({ length: count }, (_, i) => fields[4 + 2 * i]!);
  const plain = lemmas.map((lemma) => lemma.replaceAll("_", " ").replace(/\((?:a|p|ip)\)$/, ""));
  return [
    plain,
    gloss
      .join(" | ")
      .replace(/;? *".*$/, "")
      .trim(),
  ];
}

const isHeldOut = (text: string, source: keyof typeof HELD_OUT_ONE_IN): boolean =>
  numberOf(text) % HELD_OUT_ONE_IN[source] === 0;

/** By its letters and digits. */
export function numberOf(text: string): number {
  const normal = text
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, " ")
    .trim();
  return createHash("sha256").update(normal).digest().readUInt32BE(0);
}

/** Each second text is a document; questions are taken evenly. */
/** Equal texts are one document: no search can tell which of them is asked for. */
function asSet(pairs: readonly (readonly [question: string, document: string])[]): DescriptionSet {
  const every = Math.max(1, Math.floor(pairs.length / QUESTIONS_MAX));
  const ids = new Map<string, string>();
  pairs.forEach(([, document], i) => {
    if (!ids.has(document)) ids.set(document, String(i));
  });
  const asked = pairs.map(([query, document]) => ({ query, relevant: { [ids.get(document)!]: 1 } }));
  return {
    descriptions: Object.fromEntries([...ids].map(([document, id]) => [id, document])),
    queries: asked.filter((_, i) => i % every === 0).slice(0, QUESTIONS_MAX),
  };
}
