/** Tools about images: what one shows, and what is like a text or an image. */
import Type from "typebox";
import { multimodalEndpoints } from "../../protocol/endpoints/multimodal.js";
import { Strict } from "../../protocol/endpoints/schemas.js";
import { type DescribeBody, describeImage } from "../multimodal/describe-image.js";
import { type MediaSearchBody, searchMedia } from "../multimodal/search-media.js";
import { READS, type Tool } from "./tool.js";

const describe = multimodalEndpoints[0].body.properties;
const search = multimodalEndpoints[1].body.properties;

const describeImageTool: Tool = {
  name: "describe_image",
  door: "none",
  title: "Describe an image",
  description:
    "Answers a prompt about an image (base64, or an address that the server may fetch). It uses the installed vision model or a provider. Without either, it reports size, colours, EXIF and the words in the image.",
  input: Strict({
    prompt: describe.prompt,
    image: describe.image,
    image_url: describe.image_url,
    model: describe.model,
    provider: describe.provider,
    max_tokens: describe.max_tokens,
  }),
  hints: { readOnlyHint: true, destructiveHint: false, idempotentHint: false, openWorldHint: true },
  forReaders: true,
  call: async ({ request }, args) => JSON.stringify(await describeImage(request, args as DescribeBody)),
};

const searchMediaTool: Tool = {
  name: "search_media",
  door: "statements",
  title: "Search texts, images and other media",
  description:
    "Finds what is most similar to a text or an image in collections of texts, images and other media, and says how each result was found.",
  input: Strict({
    query: search.query,
    modalities: search.modalities,
    limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 100, description: "10 unless said." })),
    collections: search.collections,
  }),
  ...READS,
  call: async ({ request }, args) => JSON.stringify(await searchMedia(request, args as MediaSearchBody)),
};

export const MEDIA_TOOLS: readonly Tool[] = [describeImageTool, searchMediaTool];
