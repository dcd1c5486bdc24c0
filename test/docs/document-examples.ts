/**
 * Finds the examples of a page of the documents. A fenced block is an example when its language is bash, sql or cypher;
 * it runs unless its info string says `not-run: REASON`. A comment that begins with an arrow says what the block must
 * print:
 *
 *     SELECT 1 + 1;   -- → 2
 *
 * Several texts may follow the arrow, with ` … ` between them. An error that a block answers has to be announced in
 * this way by its code. `setup` in the info string marks the block that signs in and defines the helpers. Pure.
 */
const LANGUAGES = ["bash", "sql", "cypher"] as const;
type Language = (typeof LANGUAGES)[number];

export interface Example {
  readonly language: Language;
  readonly code: string;
  /** Of its first line in the page. */
  readonly line: number;
  readonly isSetup: boolean;
  /** Why it does not run; null when it does. */
  readonly notRun: string | null;
  /** Texts that its output must contain. */
  readonly expected: readonly string[];
}

export function examplesOf(markdown: string): Example[] {
  const examples: Example[] = [];
  for (const match of markdown.matchAll(/^```([^\n]*)\n([\s\S]*?)^```$/gm)) {
    const [, info, code] = match as unknown as [string, string, string];
    const language = LANGUAGES.find((name) => info === name || info.startsWith(`${name} `));
    if (language === undefined) continue;
    examples.push({
      language,
      code,
      line: markdown.slice(0, match.index).split("\n").length + 1,
      isSetup: info === `${language} setup`,
      notRun: notRunOf(info.slice(language.length).trim()),
      expected: expectedOf(code),
    });
  }
  return examples;
}

function notRunOf(info: string): string | null {
  if (info === "" || info === "setup") return null;
  const reason = /^not-run: (\S+ .*)$/.exec(info)?.[1];
  if (reason === undefined)
    throw new Error(`the info string "${info}" is neither "setup" nor "not-run: " with a reason`);
  return reason;
}

function expectedOf(code: string): string[] {
  const texts = [...code.matchAll(/(?:#|--|\/\/) → (.*)$/gm)].map(([, text]) => text!);
  return texts.flatMap((text) => text.split(" … ")).map((text) => text.trim());
}

/** Codes of the errors in what an example printed. */
export function errorsIn(output: string): string[] {
  return [...output.matchAll(/"error":\{"code":"([a-z_]+)"/g)].map(([, code]) => code!);
}

/** What bash runs for an example. Statements go to the server as a file of them; `sql` is one of the helpers. */
export function scriptOf({ language, code }: Example): string {
  if (language === "bash") return code;
  return `sql "$(cat <<'END_OF_EXAMPLE'\n${code}END_OF_EXAMPLE\n)"\n`;
}
