/** What words mean by the encoder that comes with the program. */
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { Models } from "../../../src/ai/models.js";
import { EncodedMeanings } from "../../../src/ai/nli/word-meanings.js";

const ROOT = fileURLToPath(new URL("../../../../", import.meta.url));

export function bundledMeanings(): EncodedMeanings {
  const models = new Models({
    roots: [join(ROOT, "models")],
    embeddingModel: "tessera-embed-384",
    warn: () => undefined,
    inference: null,
  });
  return new EncodedMeanings((text) => models.sumNow(text));
}
