/** Bound statements about functions. `sql/bind` makes them, `function-ddl.ts` applies them. */
import type { FunctionDef } from "./function.js";

/** `id` and `createdAt` come from the catalog. */
export type NewFunction = Omit<FunctionDef, "id" | "createdAt">;

export interface CreateFunctionCommand {
  readonly kind: "create function";
  readonly function: NewFunction;
  /** The definition that the new one takes the place of; null: there was none. */
  readonly replaces: FunctionDef | null;
}

export interface DropFunctionsCommand {
  readonly kind: "drop functions";
  readonly tag: string;
  readonly functions: readonly FunctionDef[];
  readonly cascade: boolean;
  readonly notices: readonly string[];
  /** Those whose name a function of the system has, too: tables that call it may mean that one. */
  readonly shadowed?: readonly FunctionDef[];
  /** `f(integer)` of each, for messages. */
  readonly signatures: readonly string[];
}

export interface AlterFunctionCommand {
  readonly kind: "alter function";
  readonly tag: string;
  readonly before: FunctionDef;
  readonly after: FunctionDef;
}

export type FunctionCommand = CreateFunctionCommand | DropFunctionsCommand | AlterFunctionCommand;
