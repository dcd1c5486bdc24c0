/** What is said in sounds, over the socket: with a small real model of speech, which knows three tones, and without. */
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import t from "tap";
import { makeSpeech, melody, type Tone } from "../ai/speech/tiny-speech.js";
import { wav } from "../ingest/wav-writer.js";
import { filesOf, ROUTE, ready, TestFolder, until } from "./filesystem-folder.js";
import { post, started } from "./multimodal-fixture.js";

const models = mkdtempSync(join(tmpdir(), "tessera-speech-"));
const source = mkdtempSync(join(tmpdir(), "tessera-source-"));
const folder = new TestFolder();
t.teardown(() => {
  for (const path of [models, source]) rmSync(path, { recursive: true });
  folder.end();
});
makeSpeech(source, { id: "latest" });
mkdirSync(join(source, "tiny-speech"));
makeSpeech(join(source, "tiny-speech"), { id: "latest", extra: { id: "tiny-speech" } });

const tune = (tones: readonly (Tone | null)[], rate = 8000) => wav(melody(tones), tones.length * 5, { rate });
const TUNE = tune(["low", "high", null, "middle"]);
const base64 = (bytes: Uint8Array) => Buffer.from(bytes).toString("base64");
const flac = readFileSync(new URL("../../../test/ingest/fixtures/tone.flac", import.meta.url));

t.test("sounds", async (t) => {
  const server = await started(t, {
    TESSERA_AI_MODEL_ROOT: models,
    TESSERA_AI_PULL_SOURCES: source,
    TESSERA_FILES_ROOTS: folder.root,
    TESSERA_MULTIMODAL_FFMPEG: "no-such-program",
  });
  const transcribe = (body: object) => post(server, "transcribe", body);
  folder.put("tunes/tune.wav", TUNE);
  folder.put("tunes/tone.flac", flac);
  folder.put(
    "tunes/silence.wav",
    wav(() => 0, 60, { rate: 2000, bits: 8 }),
  );
  folder.put("tunes/cut.wav", TUNE.subarray(0, 40_000));
  folder.put("tunes/cut.flac", flac.subarray(0, 6000));
  folder.put("tunes/garbage.mp3", Buffer.from("this is no sound at all, whatever it is named"));
  folder.put("tunes/old.aiff", Buffer.from("FORM\0\0\0\x2eAIFFCOMM".padEnd(60, "\0"), "latin1"));
  folder.put("read.txt", "Marmots whistle.");
  let id = "";
  const notes = async () =>
    new Map((await filesOf(server, id)).map(({ path, notes, error_code: code }) => [path, code ?? notes]));

  await t.test("no model: they are stored with their tags, and marked", async (t) => {
    const { data } = (await server.expect(201, "POST", ROUTE, { name: "tunes", watch_dir: folder.root })).body;
    id = data.id;
    await ready(server, id);
    const of = await notes();
    t.match(of.get("tunes/tune.wav"), [/no speech model is installed.*whisper-tiny.*reprocess/]);
    t.equal(of.get("tunes/garbage.mp3"), "file_corrupt");
    t.same(of.get("read.txt"), []);
    const { status, body } = await transcribe({ audio: base64(TUNE) });
    t.equal(status, 503);
    t.match(body.error, { code: "model_unavailable", details: { pull: "whisper-tiny", hint: /PULL_MODEL/ } });
    const felt = (await post(server, "embed", { input: { audio: base64(TUNE) } })).body.data;
    t.match(felt, { method: "audio_feature", model: "tessera-audio-1" });
    const flacToo = (await post(server, "embed", { input: { audio: base64(flac) } })).body.data;
    t.match(flacToo, { method: "audio_feature" }, "without ffmpeg");
  });

  await t.test("what is no sound is told before anything is said of models", async (t) => {
    for (const [audio, message] of [
      ["data:audio/wav;base64,UklGRg==", /^audio: .*data:/],
      ["????", /^audio: is not valid base64/],
      [base64(TUNE.subarray(0, 999)), /^audio: .*cut off/],
      [base64(wav(() => 0.1, 601, { rate: 2000, bits: 8 })), /^audio: .*longer than 600/],
    ] as const) {
      const { status, body } = await transcribe({ audio });
      t.equal(status, 400);
      t.match(body.error, { code: "invalid_request", message });
    }
    t.equal((await transcribe({})).status, 400);
    const unknown = await transcribe({ audio: base64(Buffer.from("some other form of sound")) });
    t.match(unknown.body.error, { code: "program_not_installed", message: /ffmpeg/ });
  });

  await t.test("a model is pulled, and the folder read again", async (t) => {
    const pull = (await server.expect(202, "POST", "/v1/ai/models/pull", { model: "tiny-speech" })).body.data;
    t.ok(pull);
    await until(async () => (await transcribe({ audio: base64(TUNE) })).status === 200);
    await server.expect(202, "POST", `${ROUTE}/${id}/reprocess`, {});
    await ready(server, id);
    const of = await notes();
    t.same(of.get("tunes/tune.wav"), []);
    t.match(of.get("tunes/silence.wav"), ["transcription: no speech was found in it"]);
    t.equal(of.get("tunes/cut.wav"), "file_corrupt");
    t.equal(of.get("tunes/cut.flac"), "file_corrupt");
    t.match(of.get("tunes/old.aiff"), /file_corrupt|ffmpeg/);
    const found = await server.expect(200, "POST", "/v1/collections/tunes/search", { query: "high middle", limit: 1 });
    t.match(found.body.data.documents[0], {
      file: "tunes/tune.wav",
      kind: "audio",
      text: "low high middle",
      start_seconds: 0,
      end_seconds: 20,
    });
    const tune = (await filesOf(server, id)).find(({ path }) => path === "tunes/tune.wav");
    t.match(tune.metadata, { transcript_model: "tiny-speech", spoken_language: "en", duration_seconds: 20 });
    const sql = `SELECT text FROM tunes WHERE file = 'tunes/tone.flac' AND start_seconds IS NOT NULL`;
    t.same((await server.expect(200, "POST", "/v1/query/execute", { sql })).body.data.rows, [["middle"]]);
  });

  await t.test("a sound in writing", async (t) => {
    const { data } = (await transcribe({ audio: base64(TUNE) })).body;
    t.match(data, { text: "low high middle", language: "en", model: "tiny-speech", duration_seconds: 20 });
    t.same(data.segments, [
      { start: 0, end: 5, text: "low" },
      { start: 5, end: 10, text: "high" },
      { start: 15, end: 20, text: "middle" },
    ]);
    t.equal(data.usage.total_tokens, data.usage.input_tokens + data.usage.output_tokens);
    const german = await transcribe({ audio: base64(TUNE), language: "de", model: "tiny-speech" });
    t.match(german.body.data, { language: "de", text: "low high middle" });
    const french = await transcribe({ audio: base64(TUNE), language: "fr" });
    t.match(french.body.error, { code: "invalid_request", message: /knows en, de/ });
    t.equal((await transcribe({ audio: base64(TUNE), model: "tessera-embed-384" })).status, 404);
    const silence = (await transcribe({ audio: base64(wav(() => 0, 2)) })).body.data;
    t.match(silence, { text: "", segments: [], language: null });
  });

  await t.test("a sound is embedded by what is said in it", async (t) => {
    const embed = async (input: object, more: object = {}) =>
      (await post(server, "embed", { input, ...more })).body.data;
    const said = await embed({ audio: base64(TUNE) });
    t.match(said, { method: "transcript", model: "tessera-embed-384", modality: "audio" });
    t.same(said.embedding, (await embed({ text: "low high middle" })).embedding);
    t.match(await embed({ audio: base64(TUNE) }, { model: "tessera-audio-1" }), { method: "audio_feature" });
    t.match(await embed({ audio: base64(wav(() => 0, 1)) }), { method: "audio_feature" }, "nothing is said");
  });

  await t.test("a sound finds what is about the same", async (t) => {
    const search = (bytes: Uint8Array) => post(server, "search", { query: { audio: base64(bytes) }, limit: 1 });
    const { data } = (await search(tune(["high", "middle"]))).body;
    t.match(data, { transcript: "high middle", methods: ["text"] });
    t.match(data.results, [{ modality: "audio", document: { file: "tunes/tune.wav" } }]);
    const { status, body } = await search(wav(() => 0, 1));
    t.equal(status, 400);
    t.match(body.error.message, /^query.audio: no speech was found/);
  });
});
