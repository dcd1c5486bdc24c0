/** The provider of language models that a tenant chooses for itself. */

import Type from "typebox";
import type { EndpointSpec } from "../endpoint.js";
import { PROVIDER_KINDS } from "../provider-kinds.js";
import { MUST_BE } from "../schema-fault.js";
import { Strict } from "./schemas.js";

const Kind = Type.Enum([...PROVIDER_KINDS], {
  description: "The interface of the address. Many other servers also use `openai`.",
});

const Chosen = Type.Object({
  provider: Type.String({ description: '"native" is the bundled model.' }),
  model: Type.String(),
  source: Type.Enum(["tenant", "installation", "bundled"]),
  base_url: Type.Optional(Type.String({ description: "Of the tenant's own provider. Empty: the provider's default." })),
  has_key: Type.Optional(Type.Boolean()),
  supports_tools: Type.Boolean(),
});

export const providerEndpoints = [
  {
    name: "ai.provider.get",
    door: "none",
    method: "GET",
    path: "/v1/ai/provider",
    summary: "The provider that writes texts for the tenant. Keys are never returned.",
    tag: "ai",
    access: "member",
    home: "tenant",
    response: Chosen,
  },
  {
    name: "ai.provider.set",
    door: "none",
    method: "PUT",
    path: "/v1/ai/provider",
    summary: "Set the tenant's own provider (its admins only). The key is stored encrypted and never returned.",
    tag: "ai",
    access: "writer",
    home: "tenant",
    audited: true,
    body: Strict({
      provider: Kind,
      base_url: Type.Optional(
        Type.String({ maxLength: 2000, description: "Empty or absent: the provider's default." }),
      ),
      model: Type.Optional(Type.String({ maxLength: 200, description: "Empty or absent: the provider's default." })),
      api_key: Type.Optional(
        Type.String({
          maxLength: 4096,
          pattern: "^[\\x21-\\x7e]*$",
          [MUST_BE]: "printable ASCII characters without spaces",
          description: "Absent: the stored key is kept if provider and base_url do not change.",
        }),
      ),
    }),
    example: {
      body: {
        provider: "openai",
        base_url: "https://api.openai.com/v1",
        model: "gpt-4o-mini",
        api_key: "sk-0123456789",
      },
    },
    response: Chosen,
  },
  {
    name: "ai.provider.delete",
    door: "none",
    method: "DELETE",
    path: "/v1/ai/provider",
    summary: "Remove the tenant's own provider (its admins only). The installation's provider applies again.",
    tag: "ai",
    access: "writer",
    home: "tenant",
    audited: true,
    status: 204,
  },
] as const satisfies readonly EndpointSpec[];
