/** Files of the documents and of the console. */
import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import t from "tap";
import { SiteFile } from "../../src/gateway/documents.js";

t.test("a file that an upgrade has taken away is not there; one that was read stays", (t) => {
  const path = join(t.testdir(), "part.js");
  writeFileSync(path, "export {}");
  const [read, later] = [new SiteFile("text/javascript", path), new SiteFile("text/javascript", path)];
  t.equal(String(read.load()?.body), "export {}");
  rmSync(path);
  t.equal(String(read.load()?.body), "export {}");
  t.equal(later.load(), null);
  t.end();
});
