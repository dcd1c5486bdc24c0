/**
 * Every relative link of the documents leads to a file or folder of the repository. Anchors:
 * test/e2e/documents-site.test.ts.
 */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import t from "tap";

const ROOT = new URL("../../../", import.meta.url).pathname;
const FOLDERS = ["docs", "models"];
const AT_ROOT = readdirSync(ROOT).filter((name) => name.endsWith(".md"));

function pages(): string[] {
  const below = FOLDERS.flatMap((folder) =>
    readdirSync(join(ROOT, folder), { recursive: true, encoding: "utf8" }).map((name) => join(folder, name)),
  );
  return [...AT_ROOT, ...below].filter((name) => name.endsWith(".md"));
}

t.test("links of the documents", (t) => {
  for (const page of pages()) {
    const prose = readFileSync(join(ROOT, page), "utf8").replaceAll(/^```[\s\S]*?^```/gm, "");
    const links = [...prose.matchAll(/\]\(([^)\s]+)\)/g)].map(([, link]) => link!.split("#")[0]!);
    const missing = links
      .filter((link) => link !== "" && !/^[a-z]+:/.test(link))
      .filter((link) => !existsSync(join(ROOT, dirname(page), link)));
    t.same(missing, [], `links of ${page} that lead nowhere`);
  }
  t.end();
});
