/** Bound statements about operators and casts. `sql/bind` makes them, `operator-ddl.ts` applies them. */
import type { CastDef, OperatorDef } from "./operator.js";

/** `id` and `createdAt` come from the catalog. */
export type NewOperator = Omit<OperatorDef, "id" | "createdAt">;
export type NewCast = Omit<CastDef, "id" | "createdAt">;

export type OperatorCommand =
  | { readonly kind: "create operator"; readonly operator: NewOperator }
  | { readonly kind: "alter operator"; readonly tag: string; readonly after: OperatorDef }
  | { readonly kind: "create cast"; readonly cast: NewCast }
  | { readonly kind: "comment on cast"; readonly after: CastDef }
  | {
      readonly kind: "drop operators";
      readonly tag: "DROP OPERATOR" | "DROP CAST";
      readonly dropped: readonly (OperatorDef | CastDef)[];
      readonly cascade: boolean;
      readonly notices: readonly string[];
    };
