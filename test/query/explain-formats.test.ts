/** EXPLAIN's XML and YAML: well formed, with what JSON has, in the layout of PostgreSQL's. */
import { parseDocument } from "htmlparser2";
import t from "tap";
import { parse } from "yaml";
import { formatExplained } from "../../src/query/plan/explain-formats.js";

const STATEMENT = {
  Plan: {
    "Node Type": "Sort",
    "Sort Key": ["a.id", "b"],
    "Total Cost": 61.05,
    Plans: [{ "Node Type": "Seq Scan", Filter: `(name = '<x> & "y"\r: #1'::text)`, "Parallel Aware": false }],
  },
  "Execution Time": 0.014,
};

t.test("YAML reads as what JSON reads as, with every text in quotes", async (t) => {
  const yaml = formatExplained("yaml", STATEMENT);
  t.same(parse(yaml), JSON.parse(formatExplained("json", STATEMENT)));
  t.same(yaml.split("\n").slice(0, 2), ["- Plan:", '    Node Type: "Sort"']);
});

t.test("XML", async (t) => {
  const xml = formatExplained("xml", STATEMENT);
  t.equal(
    xml,
    `<explain xmlns="http://www.postgresql.org/2009/explain">
  <Query>
    <Plan>
      <Node-Type>Sort</Node-Type>
      <Sort-Key>
        <Item>a.id</Item>
        <Item>b</Item>
      </Sort-Key>
      <Total-Cost>61.05</Total-Cost>
      <Plans>
        <Plan>
          <Node-Type>Seq Scan</Node-Type>
          <Filter>(name = '&lt;x&gt; &amp; &quot;y&quot;&#x0d;: #1'::text)</Filter>
          <Parallel-Aware>false</Parallel-Aware>
        </Plan>
      </Plans>
    </Plan>
    <Execution-Time>0.014</Execution-Time>
  </Query>
</explain>`,
  );
  t.equal(parseDocument(xml, { xmlMode: true }).childNodes.length, 1);
});
