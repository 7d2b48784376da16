/**
 * What crosses between Python and JavaScript in the page, and from there to an embedding page.
 *
 * Python's ends: `personae/browser/` and `personae/ui/dom/markdown.py` for `Host`,
 * `personae/browser/embed.py` for `EmbeddedPlayer`. Texts named `...Text` are JSON.
 */
import type { PyodideAPI } from "pyodide";

/** What the build tells `boot.js` and `character-player.js` (`bundle/assets.py`). */
export interface BuildFacts {
  /** Piece -> URL relative to the page. */
  urls: Record<Piece, string>;
  bootBytes: number;
  snapshotLength: number;
}

export type Piece =
  "pyodide" | "pyscript" | "sandbox" | "core" | "render" | "math" | "snapshot" | "author";

/** The module `personae_host`. What is optional comes with the start, after the module. */
export interface Host {
  readonly assets: Record<Piece, string>;
  readonly root: string;
  readonly snapshotLength: number;
  load(piece: Piece): Promise<unknown>;
  openStorage(told: (event: StorageEvent) => void): HostStorage;
  fetchPackage(href: string): Promise<Response>;
  tryLock(name: string): Promise<Release | null>;
  hear(port: MessagePort, most: number, receive: ReceiveBytes): void;
  pieces(body: ReadableStream<Uint8Array>): () => Promise<Uint8Array | undefined>;
  /** The file of the kept memory, where it is on its way already. */
  snapshot?: Promise<Uint8Array<ArrayBuffer>> | null;
  /** The interpreter that the page has started before PyScript asks for one. */
  python?: Promise<PyodideAPI>;
  /** Whether that one has the kept memory. */
  restored?: boolean;
  library?(): Promise<void>;
  libraryNow?(name: string): void;
}

export type Release = () => void;
export type StorageEvent = "closed-for-upgrade";
/** A worker's message and its store; an empty text stands for what is no message. */
export type ReceiveBytes = (text: Uint8Array, store?: Uint8Array) => void;

/** `personae.browser.storage`; keys are JSON texts of arrays. */
export interface HostStorage {
  read(
    table: string,
    prefixText: string,
    limit?: number,
    beforeText?: string,
  ): Promise<{ keys: string; values: Value[] }>;
  keys(table: string): Promise<string>;
  commit(writes: Write[]): Promise<void>;
  close(): Promise<void>;
}

export type Value = string | Uint8Array;
export type Write =
  | [op: "put", table: string, keyText: string, value: Value]
  | [op: "delete" | "deletePrefix", table: string, keyText: string];

/** A message in the page as it grows (`personae.ui.dom.markdown.Prose`). */
export interface MarkdownSink {
  push(text: string): void;
  end(text?: string, cut?: boolean): void;
  dispose(): void;
}

/** The module `personae.browser.embed`. */
export interface Embed {
  EmbeddedPlayer(source: unknown, settingsText: string, hear: Hear): EmbeddedPlayer;
}

export type Hear = (event: keyof Emissions, payloadText: string, whoText: string) => void;

/** One player as Python has it; answers are JSON texts of `Answer`. */
export interface EmbeddedPlayer {
  start(): Promise<string>;
  call(method: Call, valuesText: string): Promise<string>;
  call_now(method: CallNow, valuesText: string): string;
  dispose(): Promise<void>;
  destroy(): void;
}

export type Answer = { value: any; error?: undefined } | { error: Failure; value?: undefined };
export interface Failure {
  code: string;
  message: string;
  detail?: Record<string, unknown>;
}
/** What embedders catch. */
export type CodedError = Error & Required<Failure>;

export type Call =
  | ("send" | "regenerate" | "edit" | "delete" | "truncate" | "reject" | "clear" | "fork")
  | ("new_conversation" | "load_conversation" | "list_conversations" | "delete_conversation")
  | ("export_conversation" | "import_conversation")
  | ("run_command" | "agent_store" | "prompt_preview");
export type CallNow = "stop" | "get_conversation" | "list_commands" | "agents";

/** Event -> what Python emits; an embedder hears a `Failure` as a `CodedError`. */
export interface Emissions {
  message: Reply;
  token: string;
  agentLog: string;
  agentToast: string;
  toolCall: { agentId: string; toolName: string; result: string };
  error: Failure;
}
export type Heard = { [Event in keyof Emissions]: Emissions[Event] } & { error: CodedError };

/** Whose text `agentLog` and `agentToast` bring. */
export interface Speaker {
  agentId: string;
  characterName: string;
}
/** Event -> what its listeners get as the second argument. */
export type Said = {
  [Event in keyof Emissions]: Event extends "agentLog" | "agentToast" ? Speaker : undefined;
};

export interface Reply {
  role: "assistant";
  content: string;
  /** URLs of what the model drew. */
  pictures?: string[];
  /** The answer is not whole. */
  stopped?: boolean;
  /** What ended it early, be it the limit of its length, a filter, or no mark of its end. */
  cut?: "length" | "filter" | "end";
}

/** What an embedder gives `CharacterPlayer`. */
export interface Options {
  package: PackageSource;
  apiKey?: string;
  baseUrl?: string;
  model?: string;
  workerModel?: string;
  storage?: "indexeddb" | "memory";
  limits?: { response?: number; conversation?: number };
  webAccess?: boolean;
  temperature?: number;
  topP?: number;
  maxTokens?: number;
}
export type PackageSource =
  | (string | Blob | ArrayBuffer | ArrayBufferView)
  | { files: Record<string, string | Uint8Array | ArrayBuffer> };
