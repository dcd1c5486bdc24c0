/** What two leads allow together. */
import t from "tap";
import { narrowed } from "../../src/protocol/lead.js";

t.test("a lead within a lead allows what both allow", async (t) => {
  const outer = { tables: ["orders", "public.customers", "sales.bills"], key: "k" };
  const inner = { tables: ["public.orders", "customers", "bills"] };
  t.same(narrowed(outer, inner), { key: "k", tables: ["public.orders", "customers"] });
  t.same(narrowed({ key: "k" }, inner), { key: "k", ...inner });
  t.same(narrowed(outer, {}), outer);
  t.same(narrowed({ statements: ["read", "write"] }, { statements: ["read"] }), { statements: ["read"] });
  t.same(narrowed({ statements: ["read"] }, {}), { statements: ["read"] });
  t.same(narrowed({}, { statements: ["read"], tables: [] }), { statements: ["read"], tables: [] });
});
