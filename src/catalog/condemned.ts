/** What DROP … CASCADE still has to drop as a whole (drop-condemned.ts). */
export type Condemned =
  | { readonly kind: "column"; readonly tableId: number; readonly columnId: number }
  | { readonly kind: "table"; readonly tableId: number }
  | { readonly kind: "type"; readonly typeId: number }
  /** Of a composite type. */
  | { readonly kind: "attribute"; readonly typeId: number; readonly name: string }
  /** Of which only the record is left, when what was made of it is gone. */
  | { readonly kind: "emptied table"; readonly tableId: number }
  | { readonly kind: "unused type"; readonly typeId: number };
