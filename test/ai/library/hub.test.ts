/** Models of a hub in the manner of Hugging Face: no manifest there, one is made of what the files say. */
import { createHash } from "node:crypto";
import { join } from "node:path";
import t, { type Test } from "tap";
import { findBundle, readBundleFile } from "../../../src/ai/bundle.js";
import { KNOWN_MODELS } from "../../../src/ai/library/known-models.js";
import { pseudoRandom, sha256 } from "../tiny-bundle.js";
import { testLibrary } from "./library-fixture.js";
import { give, type Hub, loopbackHub } from "./loopback-hub.js";

const COMMIT = "0123456789abcdef0123456789abcdef01234567";
const GRAPH = pseudoRandom(200_000);

const gitDigest = (bytes: Buffer): string =>
  createHash("sha1").update(`blob ${bytes.length}\0`).update(bytes).digest("hex");

interface Repository {
  readonly hub: Hub;
  /** Path of a file at the commit. */
  path(file: string): string;
  put(file: string, bytes: Buffer): void;
}

/** Small files are given as they are; a large one by a redirect to where its digest is its name. */
async function repository(t: Test, name: string): Promise<Repository> {
  const hub = await loopbackHub(t);
  const put = (file: string, bytes: Buffer): void => {
    const common = { "x-repo-commit": COMMIT };
    for (const revision of ["main", COMMIT]) {
      const path = `/${name}/resolve/${revision}/${file}`;
      hub.contents.set(path, bytes);
      if (bytes.length < 10_000) hub.headers.set(path, { ...common, etag: `"${gitDigest(bytes)}"` });
      else {
        const linked = { "x-linked-etag": `"${sha256(bytes)}"`, "x-linked-size": String(bytes.length) };
        hub.contents.set(`/large/${sha256(bytes)}`, bytes);
        hub.misbehave.set(path, (_request, response) => {
          const location = `${hub.url}/large/${sha256(bytes)}?signature=secret`;
          response.writeHead(302, { ...common, ...linked, location }).end();
          return true;
        });
      }
    }
    const large = `/large/${sha256(bytes)}?signature=secret`;
    hub.misbehave.set(large, (request, response) => {
      give(request, response, bytes);
      return true;
    });
  };
  return { hub, put, path: (file) => `/${name}/resolve/${COMMIT}/${file}` };
}

const json = (value: object): Buffer => Buffer.from(JSON.stringify(value));

async function miniLm(t: Test): Promise<Repository> {
  const made = await repository(t, "Xenova/all-MiniLM-L6-v2");
  made.put("config.json", json({ hidden_size: 384, max_position_embeddings: 512 }));
  made.put("tokenizer.json", json({ model: {} }));
  made.put("onnx/model.onnx", GRAPH);
  return made;
}

t.test("an embedding model", async (t) => {
  const { hub } = await miniLm(t);
  const { root, pulled } = testLibrary(t, [`hub:${hub.url}`]);
  t.match(await pulled("all-MiniLM-L6-v2"), {
    name: "all-minilm-l6-v2",
    source: `hub:${hub.url}`,
    restartRequired: false,
  });
  const { manifest } = findBundle(join(root, "all-minilm-l6-v2"))!;
  t.match(manifest, {
    id: "all-minilm-l6-v2",
    kind: "embedding",
    revision: COMMIT,
    repository: "Xenova/all-MiniLM-L6-v2",
    licence: "Apache-2.0",
    dimensions: 384,
    max_length: 256,
    pooling: "mean",
    special_tokens: true,
    onnx: "model.onnx",
    tokenizer: "tokenizer.json",
  });
  t.same(
    manifest!.files.map(({ name }) => name),
    ["config.json", "tokenizer.json", "model.onnx"],
  );
  t.same(readBundleFile(join(root, "all-minilm-l6-v2"), manifest!, "model.onnx"), GRAPH);
  t.ok(
    hub.requests.slice(1).every((line) => line.includes(COMMIT) || line.includes("/large/")),
    "all files are of the commit that the first answer names",
  );
  const { digest } = findBundle(join(root, "all-minilm-l6-v2"))!;
  hub.requests.length = 0;
  await pulled("all-minilm");
  t.equal(findBundle(join(root, "all-minilm-l6-v2"))!.digest, digest, "equal files make equal manifests");
  t.notOk(
    hub.requests.some((line) => line.startsWith("GET /large")),
    "what is here is not loaded again",
  );
});

t.test("claim verification: the order of the labels is the repository's; two aliases are one artefact", async (t) => {
  for (const labels of [
    { 0: "contradiction", 1: "entailment", 2: "neutral" },
    { 0: "ENTAILMENT", 1: "NEUTRAL", 2: "CONTRADICTION" },
  ]) {
    const { hub, put } = await repository(t, "Xenova/nli-deberta-v3-small");
    put("config.json", json({ id2label: labels, max_position_embeddings: 512 }));
    put("tokenizer.json", json({ model: {} }));
    put("onnx/model.onnx", GRAPH);
    const { root, pulled, library } = testLibrary(t, [`hub:${hub.url}`]);
    const pull = library.pull("nli-default");
    t.equal(library.pull("nli-small").id, pull.id);
    t.match(await pulled("nli-default"), { name: "nli-small", restartRequired: true });
    const { manifest } = findBundle(join(root, "nli-small"))!;
    t.match(manifest, { id: "nli-small", alias: "nli-default", kind: "nli", max_length: 512 });
    t.same(
      manifest!.labels,
      Object.values(labels).map((label) => label.toLowerCase()),
    );
  }
});

t.test("a classifier of something else is refused", async (t) => {
  for (const id2label of [
    undefined,
    { 0: "entailment", 1: "not_entailment" },
    { 1: "contradiction", 2: "entailment", 3: "neutral" },
  ]) {
    const { hub, put } = await repository(t, "Xenova/nli-deberta-v3-xsmall");
    put("config.json", json({ id2label }));
    put("tokenizer.json", json({ model: {} }));
    put("onnx/model.onnx", GRAPH);
    const { refused } = testLibrary(t, [`hub:${hub.url}`]);
    t.match(await refused("nli-xsmall"), { code: "model_rejected", message: /id2label/ });
  }
});

t.test("a decoder: its template and its ends", async (t) => {
  const { hub, put } = await repository(t, "HuggingFaceTB/SmolLM2-135M-Instruct");
  const sizes = { hidden_size: 576, num_attention_heads: 9, num_key_value_heads: 3, num_hidden_layers: 30 };
  put("config.json", json({ ...sizes, vocab_size: 49_152, max_position_embeddings: 2048, eos_token_id: 2 }));
  put("generation_config.json", json({ eos_token_id: [2, 0], temperature: 0.2, top_p: 3 }));
  put("tokenizer_config.json", json({ chat_template: "{{ messages }}" }));
  put("tokenizer.json", json({ model: {} }));
  put("onnx/model_quantized.onnx", GRAPH);
  const { root, pulled } = testLibrary(t, [`hub:${hub.url}`]);
  await pulled("smollm2-135m-instruct");
  t.match(findBundle(join(root, "smollm2-135m-instruct"))!.manifest, {
    kind: "generation",
    tokenizer_config: "tokenizer_config.json",
    generation: { layers: 30, kv_heads: 3, head_dimensions: 64, vocabulary: 49_152, eos_token_ids: [2, 0] },
    max_length: 2048,
    onnx: "model_quantized.onnx",
  });
});

t.test("models that see: two graphs, and how images are read", async (t) => {
  const clip = await repository(t, "Xenova/clip-vit-base-patch32");
  clip.put("config.json", json({ projection_dim: 512, text_config: {} }));
  clip.put("tokenizer.json", json({ model: {} }));
  const [mean, std] = [
    [0.48, 0.45, 0.4],
    [0.26, 0.26, 0.27],
  ];
  const read = { image_mean: mean, image_std: std, do_center_crop: true, crop_size: { height: 224, width: 224 } };
  clip.put("preprocessor_config.json", json({ ...read, size: { shortest_edge: 224 } }));
  clip.put("onnx/text_model.onnx", GRAPH);
  clip.put("onnx/vision_model.onnx", pseudoRandom(100_000));
  const first = testLibrary(t, [`hub:${clip.hub.url}`]);
  await first.pulled("clip");
  t.match(findBundle(join(first.root, "clip-vit-base-patch32")), {
    problem: null,
    manifest: {
      kind: "dual_encoder",
      dimensions: 512,
      max_length: 77,
      special_tokens: true,
      onnx: "text_model.onnx",
      image: { onnx: "vision_model.onnx", size: 224, fit: "crop", mean, std },
    },
  });
  const captions = await repository(t, "Xenova/vit-gpt2-image-captioning");
  captions.put("config.json", json({ decoder_start_token_id: 50_256, eos_token_id: 50_256 }));
  captions.put("tokenizer.json", json({ model: {} }));
  captions.put("preprocessor_config.json", json({ image_mean: mean, image_std: std, size: 224 }));
  captions.put("onnx/decoder_model_quantized.onnx", GRAPH);
  captions.put("onnx/encoder_model_quantized.onnx", pseudoRandom(100_000));
  const second = testLibrary(t, [`hub:${captions.hub.url}`]);
  await second.pulled("vit-gpt2-image-captioning:int8");
  t.match(findBundle(join(second.root, "vit-gpt2-image-captioning")), {
    problem: null,
    manifest: {
      kind: "vision",
      onnx: "decoder_model_quantized.onnx",
      image: { onnx: "encoder_model_quantized.onnx", size: 224, fit: "stretch" },
      generation: { start_token_id: 50_256, eos_token_ids: [50_256] },
    },
  });
  captions.put("preprocessor_config.json", json({ size: 224 }));
  const third = testLibrary(t, [`hub:${captions.hub.url}`]);
  t.match(await third.refused("vit-gpt2-image-captioning:int8"), { code: "model_rejected", message: /image_mean/ });
});

t.test("what the hub does not have, and what the catalog does not know", async (t) => {
  const { hub } = await miniLm(t);
  const { refused } = testLibrary(t, [`hub:${hub.url}`]);
  t.match(await refused("some-model"), { code: "model_not_found" });
  t.match(await refused("all-minilm-l6-v2:int4"), { code: "model_not_found" }, "no such tag");
  t.match(await refused("gte-small"), { code: "model_source_failed", message: /config.json is not there/ });
  t.match(await refused("all-minilm-l6-v2:int8"), {
    code: "model_source_failed",
    message: /Xenova\/all-MiniLM-L6-v2 has no onnx\/model_quantized.onnx/,
  });
});

t.test("wrong bytes, large and small", async (t) => {
  const { hub, path } = await miniLm(t);
  const { refused, pulled } = testLibrary(t, [`hub:${hub.url}`]);
  const large = `/large/${sha256(GRAPH)}?signature=secret`;
  const right = hub.misbehave.get(large)!;
  hub.misbehave.set(large, (request, response) => {
    const other = Buffer.from(GRAPH);
    other[5]! ^= 1;
    give(request, response, other);
    return true;
  });
  const error = await refused("all-minilm-l6-v2");
  t.match(error, { code: "model_rejected", message: /model.onnx is not what was offered: its SHA-256 is/ });
  hub.misbehave.set(large, (_request, response) => {
    response.writeHead(403).end();
    return true;
  });
  const denied = await refused("all-minilm-l6-v2");
  t.match(denied, { code: "model_source_failed", message: /answered 403/ });
  t.notMatch(denied.message, /secret/, "signatures are not told");
  hub.misbehave.set(large, right);
  // The hub is asked for the newest first.
  const config = path("config.json").replace(COMMIT, "main");
  const headers = hub.headers.get(config)!;
  hub.headers.set(config, { ...headers, etag: `"${"0".repeat(40)}"` });
  t.match(await refused("all-minilm-l6-v2"), { code: "model_rejected", message: /config.json .* git digest/ });
  hub.headers.set(config, headers);
  await pulled("all-minilm-l6-v2");
});

t.test("the catalog", async (t) => {
  const names = KNOWN_MODELS.flatMap(({ name, alias }) => [name, ...(alias === undefined ? [] : [alias])]);
  t.equal(new Set(names).size, names.length, "each name stands for one model");
  for (const name of ["nli-default", "nli-small", "nli-xsmall", "all-minilm-l6-v2"]) t.ok(names.includes(name), name);
  for (const { name, tags, kind, pooling } of KNOWN_MODELS) {
    t.match(name, /^[a-z0-9][a-z0-9._-]{0,99}$/);
    t.ok(tags.latest !== undefined, `${name} has the tag that is meant when none is given`);
    t.equal(pooling !== undefined, kind === "embedding");
  }
});

t.test("a model that hears: which tokens steer it", async (t) => {
  const { hub, put } = await repository(t, "onnx-community/whisper-tiny");
  const config = { decoder_start_token_id: 50258, eos_token_id: 50257, num_mel_bins: 80, max_target_positions: 448 };
  put("config.json", json(config));
  const rules = {
    lang_to_id: { "<|en|>": 50259, "<|haw|>": 50352 },
    task_to_id: { transcribe: 50359, translate: 50358 },
    no_timestamps_token_id: 50363,
    suppress_tokens: [1, 2, 7],
    begin_suppress_tokens: [220, 50257],
  };
  put("generation_config.json", json(rules));
  put("tokenizer.json", json({ model: {} }));
  put("onnx/decoder_model_merged_quantized.onnx", GRAPH);
  put("onnx/encoder_model_quantized.onnx", pseudoRandom(20_000));
  const { root, pulled, refused } = testLibrary(t, [`hub:${hub.url}`]);
  await pulled("whisper-tiny:int8");
  t.match(findBundle(join(root, "whisper-tiny"))!.manifest, {
    kind: "speech",
    onnx: "decoder_model_merged_quantized.onnx",
    max_length: 448,
    generation: { start_token_id: 50258, eos_token_ids: [50257] },
    speech: {
      onnx: "encoder_model_quantized.onnx",
      mels: 80,
      languages: { en: 50259, haw: 50352 },
      transcribe_token_id: 50359,
      no_timestamps_token_id: 50363,
      no_speech_token_id: 50362,
      suppressed_token_ids: [1, 2, 7],
      first_suppressed_token_ids: [220, 50257],
    },
  });
  put("config.json", json({ ...config, num_mel_bins: undefined }));
  t.match(await refused("whisper-tiny:int8"), { code: "model_rejected", message: /num_mel_bins/ });
});
