/** Normalization by a SentencePiece model's own table: part by part; whole texts are in nli/pair-tokenizer.test.ts. */
import t from "tap";
import { PrecompiledCharsmap } from "../../src/ai/precompiled-charsmap.js";
import { UNIGRAM_TOKENIZER } from "./nli/claim-bundles.js";

const file = JSON.parse(UNIGRAM_TOKENIZER) as {
  normalizer: { normalizers: { type: string; precompiled_charsmap?: string }[] };
};
const table = file.normalizer.normalizers.find(({ type }) => type === "Precompiled")!.precompiled_charsmap!;
const charsmap = new PrecompiledCharsmap(table);

const cases: readonly (readonly [string, string, string])[] = [
  ["plain text stays", "A man, a plan: 100% {ok}~", "A man, a plan: 100% {ok}~"],
  ["control characters", "a\tb\nc\u007fd\u0001", "a b cd\u0001"],
  ["both ends of a line", "a\r\nb\r\n", "a b "],
  ["wide letters and ligatures", "ＡＢ１ ﬁne ﬄ", "AB1 fine ffl"],
  ["numbers", "½ Ⅻ ⑲", "1⁄2 XII 19"],
  ["what is composed", "cafe\u0301 A\u030a", "café Å"],
  ["a mark that goes with no letter before it", "x\u0301", "x\u0301"],
  ["blanks", "a\u00a0b\u200bc\u3000d", "a b c d"],
  ["joiners stay, unlike in NFKC's stead", "\u{1f469}\u200d\u{1f467}", "\u{1f469}\u200d\u{1f467}"],
  ["other scripts stay", "日本語 русский ελληνικά", "日本語 русский ελληνικά"],
  ["nothing", "", ""],
];
for (const [what, text, expected] of cases) {
  t.test(what, async (t) => t.equal(charsmap.normalize(text), expected));
}

t.test("a broken table is refused", async (t) => {
  t.throws(() => new PrecompiledCharsmap(""), RangeError);
  t.throws(() => new PrecompiledCharsmap(Buffer.from([7, 0, 0, 0, 1]).toString("base64")), RangeError);
  t.throws(() => new PrecompiledCharsmap(Buffer.from([8, 0, 0, 0, 1]).toString("base64")), RangeError);
});
