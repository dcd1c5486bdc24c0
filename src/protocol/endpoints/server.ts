/** What the gateway answers by itself: health, metrics, and the description of the interface. */
import Type from "typebox";
import type { EndpointSpec } from "../endpoint.js";

export const serverEndpoints = [
  {
    name: "server.health",
    method: "GET",
    path: "/health",
    summary: "Liveness and the state of every partition.",
    tag: "server",
    access: "public",
    home: "gateway",
    response: Type.Object({
      status: Type.String({ description: "ok, or degraded while a partition restarts." }),
      version: Type.String(),
      uptime_seconds: Type.Number(),
      partitions: Type.Array(Type.Object({ partition: Type.Integer(), status: Type.String() })),
    }),
    flat: true,
  },
  {
    name: "server.echo",
    method: "POST",
    path: "/v1/echo",
    summary: "Answers the body as it came, by way of the tenant's actor: what a request costs at the least.",
    tag: "server",
    access: "member",
    home: "tenant",
    body: Type.Object({}),
    response: Type.Object({}),
  },
  {
    name: "server.metrics",
    method: "GET",
    path: "/metrics",
    summary: "Counters in the Prometheus text format.",
    tag: "server",
    access: "public",
    home: "gateway",
  },
  {
    name: "server.openapi",
    method: "GET",
    path: "/v1/openapi.json",
    summary: "This document.",
    tag: "server",
    access: "public",
    home: "gateway",
  },
  {
    name: "server.asyncapi",
    method: "GET",
    path: "/v1/asyncapi.json",
    summary: "The messages of the WebSocket, as AsyncAPI 3.",
    tag: "server",
    access: "public",
    home: "gateway",
  },
  {
    name: "server.docs",
    method: "GET",
    path: "/v1/api-docs",
    summary: "A browsable form of this document.",
    tag: "server",
    access: "public",
    home: "gateway",
  },
] as const satisfies readonly EndpointSpec[];
