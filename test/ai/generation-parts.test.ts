/** How tokens are chosen, and how they become text. */
import { test } from "tap";
import { Sampler } from "../../src/ai/generation/sampler.js";
import { TextOutput } from "../../src/ai/generation/text-output.js";

function drawn(options: Partial<ConstructorParameters<typeof Sampler>[0]>, logits: number[], times = 4000): number[] {
  const sampler = new Sampler({ temperature: 1, topP: 1, topK: 0, seed: 1, ...options });
  const counts = logits.map(() => 0);
  for (let i = 0; i < times; i++) counts[sampler.next(Float32Array.from(logits))]!++;
  return counts.map((count) => count / times);
}

test("tokens come as often as their probabilities say", (t) => {
  const shares = drawn({}, [Math.log(0.5), Math.log(0.3), Math.log(0.2), -100]);
  for (const [id, share] of [0.5, 0.3, 0.2, 0].entries()) t.ok(Math.abs(shares[id]! - share) < 0.03, `${id}`);
  t.equal(drawn({ temperature: 0 }, [1, 3, 2])[1], 1);
  t.equal(drawn({ topK: 1 }, [1, 3, 2])[1], 1);
  const two = drawn({ topK: 2 }, [1, 3, 2]);
  t.equal(two[0], 0);
  t.ok(two[2]! > 0.2);
  const nucleus = drawn({ topP: 0.75 }, [Math.log(0.5), Math.log(0.3), Math.log(0.2)]);
  t.equal(nucleus[2], 0);
  t.ok(Math.abs(nucleus[0]! - 0.625) < 0.03);
  const hot = drawn({ temperature: 100 }, [1, 3, 2]);
  t.ok(hot.every((share) => Math.abs(share - 1 / 3) < 0.03));
  const flat = drawn(
    {},
    Array.from({ length: 1000 }, () => 0),
  );
  t.ok(flat.filter((share) => share > 0).length > 900);
  t.end();
});

test("equal seeds draw equal tokens", (t) => {
  const logits = Float32Array.from({ length: 500 }, (_, id) => Math.sin(id) * 3);
  const draw = (seed: number) => {
    const sampler = new Sampler({ temperature: 0.8, topP: 0.9, topK: 0, seed });
    return Array.from({ length: 50 }, () => sampler.next(logits));
  };
  t.same(draw(7), draw(7));
  t.notSame(draw(7), draw(8));
  t.notSame(draw(7), draw(7 + 2 ** 40));
  t.end();
});

/** A token per byte. */
const decode = (ids: readonly number[]) => new TextDecoder().decode(Uint8Array.from(ids));

function said(text: string, stop: string[] = []): string[] {
  const output = new TextOutput(decode, stop);
  const pieces: string[] = [];
  for (const byte of new TextEncoder().encode(text)) {
    if (output.isStopped) break;
    pieces.push(output.add(byte));
  }
  pieces.push(output.end());
  return pieces.filter((piece) => piece !== "");
}

test("characters are said whole", (t) => {
  const text = "Grüße 🌍 日本 👩‍👩‍👧 e\u0301nd";
  const pieces = said(text);
  t.equal(pieces.join(""), text);
  for (const piece of pieces) t.notMatch(piece, /�|^[\udc00-\udfff]|[\ud800-\udbff]$/);
  const output = new TextOutput(decode, []);
  const half = [...new TextEncoder().encode("a🌍")].slice(0, 3);
  t.equal(half.map((byte) => output.add(byte)).join("") + output.end(), "a");
  t.end();
});

test("stop texts are never said, not in part either", (t) => {
  t.equal(said("one two STOP three", ["STOP"]).join(""), "one two ");
  t.equal(said("one STO two", ["STOP"]).join(""), "one STO two");
  t.equal(said("ends in ST", ["STOP"]).join(""), "ends in ST");
  t.equal(said("SSTOP", ["STOP"]).join(""), "S");
  t.equal(said("a\n\nb", ["\n\n", "b"]).join(""), "a");
  t.equal(said("aab", ["aab", ""]).join(""), "");
  t.end();
});
