/**
 * The messages between page and worker, read from the one declaration both ends share.
 *
 * `web/personae/protocol.json` names every message with its sender, the states it is legal in, the
 * state it leads to, and its fields. This module adds nothing to it but types.
 */
import { channel, limits, studio } from "../../web/personae/protocol.json";

export type State = "booting" | "ready" | "loading" | "idle" | "calling" | "closed";
export type Fields = Record<string, unknown>;

interface Declaration {
  from: "page" | "worker";
  in: State[];
  then?: State;
  store?: boolean;
  /** What the text after the line holds. */
  body?: string;
  fields: Record<string, string>;
}

export const CHANNEL = channel as Record<string, Declaration>;
export const LIMITS = limits;

/** Method path -> its parameters by name, in order. */
export const STUDIO: Record<string, string[]> = Object.fromEntries(
  Object.entries(studio).map(([method, { parameters }]) => [method, Object.keys(parameters)]),
);

export interface Load {
  agentId: string;
  filename: string;
  source: string;
  libraries: { path: string; source: string }[];
  functions: string[];
  handlers: string[];
}

export interface Call {
  call: number;
  function: string;
  verbatim: boolean;
}

export interface Exports {
  functions: string[];
  handlers: string[];
}

/** What went wrong in an agent, by the names the page turns into error codes. */
export type FailureKind = "threw" | "value" | "memory" | "too_large" | "missing" | "load" | "crash";

/** What an agent threw: where known, its class's name and the agent's own file and line. */
export interface Thrown {
  message: string;
  name?: string | null;
  file?: string | null;
  line?: number | null;
  stack?: string | null;
}

export class AgentFailure extends Error {
  constructor(
    readonly kind: FailureKind,
    readonly thrown: Thrown,
  ) {
    super(thrown.message);
  }
}
