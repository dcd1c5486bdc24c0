import { readFileSync } from "node:fs";
import t from "tap";

interface Panel {
  readonly title: string;
  readonly targets?: readonly { readonly expr: string }[];
}

t.test("the dashboard asks for metrics that there are", async (t) => {
  const { panels } = JSON.parse(readFileSync("packaging/grafana/tessera.json", "utf8")) as { panels: Panel[] };
  const page = readFileSync("docs/reference/metrics.md", "utf8");
  const declared = new Set([...page.matchAll(/^\| `([a-z_0-9]+)` \|/gm)].map(([, name]) => name));
  const used = panels.flatMap(({ targets = [] }) =>
    targets.flatMap(({ expr }) => expr.match(/(tessera|process)_\w+/g)!),
  );
  t.ok(used.length >= 16);
  for (const name of new Set(used)) t.ok(declared.has(name.replace(/_bucket$/, "")), name);
});
