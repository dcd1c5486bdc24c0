/** Positions in texts that are not ASCII, against counting from the beginning each time. */
import t from "tap";
import { sourceMap } from "../../src/sql/parse/source-map.js";

const PIECES = ["a", "é", "字", "😀", " ", "\n", "'x'"];

function randomText(length: number, seed: number): string {
  let state = seed;
  let text = "";
  for (let i = 0; i < length; i++) {
    state = (state * 1103515245 + 12345) & 0x7fffffff;
    text += PIECES[(state >> 8) % PIECES.length]!;
  }
  return text;
}

t.test("bytes and characters are counted as if from the beginning", async (t) => {
  const text = randomText(5000, 7);
  const map = sourceMap(text, []);
  let index = 0;
  let bytes = 0;
  let characters = 0;
  let wrong = 0;
  for (const character of text) {
    if (map.indexOfByte(bytes) !== index || map.indexOfCharacter(characters) !== index) wrong++;
    if (map.position(index) !== characters + 1) wrong++;
    index += character.length;
    bytes += Buffer.byteLength(character, "utf8");
    characters++;
  }
  t.equal(wrong, 0);
  t.equal(map.indexOfByte(bytes), text.length, "the end");
  t.equal(map.position(text.length), characters + 1);
});

t.test("a replaced part maps to where it began", async (t) => {
  const text = `${randomText(1000, 3)}é`;
  const map = sourceMap(text, [{ start: 600, end: 601, text: "longer" }]);
  const at = map.text.indexOf("longer");
  t.equal(map.indexOfByte(Buffer.byteLength(map.text.slice(0, at), "utf8")), 600);
  t.equal(map.indexOfByte(Buffer.byteLength(map.text.slice(0, at + 6), "utf8")), 601);
});

t.test("many positions in a long text take no long time", async (t) => {
  const text = randomText(300_000, 5);
  const map = sourceMap(text, []);
  const started = process.cpuUsage();
  for (let offset = 0; offset < 400_000; offset += 20) map.position(map.indexOfByte(offset));
  const { user } = process.cpuUsage(started);
  t.ok(user < 2_000_000, `${user} µs of CPU`);
});
