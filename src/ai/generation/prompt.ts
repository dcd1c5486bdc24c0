/**
 * Messages as a prompt's token ids, by the bundle's chat template (Jinja, as in Hugging Face's tokenizer_config.json).
 * Made and owned by decoder.ts.
 *
 * A prompt must leave room for the answer. When it does not, the oldest messages go first, but system messages and the
 * last one stay; then the longest message that is left loses its middle.
 *
 * A text never says the model's special tokens: in messages they get a blank behind their first character, so nobody's
 * text can end its message and begin one of the system.
 */
import { Template } from "@huggingface/jinja";
import { Tokenizer } from "@huggingface/tokenizers";
import { readBundleFile } from "../bundle.js";
import type { GenerationMessage } from "../inference-messages.js";
import { BundleError, type Manifest } from "../manifest.js";

/** The parts of tokenizer_config.json that are used. */
interface TokenizerConfig {
  readonly chat_template?: string | readonly { readonly name: string; readonly template: string }[];
  readonly bos_token?: string | { readonly content: string } | null;
  readonly eos_token?: string | { readonly content: string } | null;
}

const CONFIG = "tokenizer_config.json";
const TEMPLATE = "chat_template.jinja";
const GENERATION = "generation_config.json";
/** How often a message is shortened until the prompt fits. */
const SHORTENED_MAX = 12;
const GAP = " … ";

export class Prompts {
  private readonly special: readonly string[];

  private constructor(
    private readonly tokenizer: Tokenizer,
    private readonly template: Template,
    private readonly names: { readonly bos_token: string; readonly eos_token: string },
    /** A text ends with any of these. */
    readonly ends: ReadonlySet<number>,
  ) {
    this.special = [...tokenizer.get_added_tokens_decoder().values()]
      .filter((token) => token.special && token.content.length > 1)
      .map((token) => token.content);
  }

  /** Throws BundleError. */
  static load(directory: string, manifest: Manifest): Prompts {
    const has = (name: string) => manifest.files.some((file) => file.name === name);
    const read = (name: string) => readBundleFile(directory, manifest, name).toString();
    const configName = manifest.tokenizer_config ?? CONFIG;
    try {
      const config = has(configName) ? (JSON.parse(read(configName)) as TokenizerConfig) : {};
      const tokenizer = new Tokenizer(JSON.parse(read(manifest.tokenizer)), config);
      const text = has(TEMPLATE) ? read(TEMPLATE) : templateOf(config);
      if (text === null) throw new BundleError(`${configName} has no chat_template`);
      const names = { bos_token: nameOf(config.bos_token), eos_token: nameOf(config.eos_token) };
      const ends = new Set(manifest.generation?.eos_token_ids ?? []);
      if (ends.size === 0 && has(GENERATION)) {
        const { eos_token_id: ids } = JSON.parse(read(GENERATION)) as { eos_token_id?: number | number[] };
        for (const id of [ids ?? []].flat()) ends.add(id);
      }
      const end = tokenizer.token_to_id(names.eos_token);
      if (end !== undefined) ends.add(end);
      return new Prompts(tokenizer, new Template(text), names, ends);
    } catch (error) {
      if (error instanceof BundleError) throw error;
      throw new BundleError(`its tokenizer or template cannot be used: ${(error as Error).message}`);
    }
  }

  readonly decode = (ids: readonly number[]): string =>
    ids.length === 0
      ? ""
      : this.tokenizer.decode([...ids], { skip_special_tokens: true, clean_up_tokenization_spaces: false });

  /** At most `idsMax` ids, the last of which begin the answer. */
  ids(messages: readonly GenerationMessage[], idsMax: number): number[] {
    let kept = messages.map(({ role, content }) => ({ role, content: this.plain(content) }));
    let ids = this.render(kept);
    while (ids.length > idsMax) {
      const oldest = kept.findIndex(({ role }, place) => role !== "system" && place < kept.length - 1);
      if (oldest < 0) break;
      kept = kept.toSpliced(oldest, 1);
      ids = this.render(kept);
    }
    for (let tries = 0; ids.length > idsMax && tries < SHORTENED_MAX; tries++) {
      kept = shortened(kept, (idsMax / ids.length) * 0.95);
      ids = this.render(kept);
    }
    return ids.length > idsMax ? ids.slice(ids.length - idsMax) : ids;
  }

  private render(messages: readonly GenerationMessage[]): number[] {
    const text = this.renderText(messages);
    return this.tokenizer.encode(text, { add_special_tokens: false }).ids;
  }

  private renderText(messages: readonly GenerationMessage[]): string {
    const render = (given: readonly GenerationMessage[]) =>
      this.template.render({ messages: given, add_generation_prompt: true, ...this.names });
    try {
      return render(messages);
    } catch (error) {
      // Some templates know no system.
      const merged = withoutSystem(messages);
      if (merged === messages) throw error;
      return render(merged);
    }
  }

  private plain(content: string): string {
    let text = content;
    for (const token of this.special) {
      while (text.includes(token)) text = text.replaceAll(token, `${token[0]} ${token.slice(1)}`);
    }
    return text;
  }
}

function templateOf({ chat_template: template }: TokenizerConfig): string | null {
  if (template === undefined || typeof template === "string") return template ?? null;
  return (template.find(({ name }) => name === "default") ?? template[0])?.template ?? null;
}

function nameOf(token: TokenizerConfig["bos_token"]): string {
  return (typeof token === "string" ? token : token?.content) ?? "";
}

/** The longest message has so much of its length, its beginning and its end. */
function shortened(messages: readonly GenerationMessage[], share: number): GenerationMessage[] {
  const longest = messages.reduce(
    (best, { content }, at) => (content.length > messages[best]!.content.length ? at : best),
    0,
  );
  return messages.map((message, at) => {
    if (at !== longest) return message;
    const { content } = message;
    const half = Math.floor((content.length * Math.max(0, share)) / 2);
    return { ...message, content: `${content.slice(0, half)}${GAP}${content.slice(content.length - half)}` };
  });
}

/** The system prompt is put in front of the user's first message. */
function withoutSystem(messages: readonly GenerationMessage[]): readonly GenerationMessage[] {
  const system = messages.filter(({ role }) => role === "system");
  if (system.length === 0) return messages;
  const others = messages.filter(({ role }) => role !== "system");
  const said = system.map(({ content }) => content).join("\n\n");
  const [first] = others;
  if (first?.role !== "user") return [{ role: "user", content: said }, ...others];
  return [{ role: "user", content: `${said}\n\n${first.content}` }, ...others.slice(1)];
}
