// The consumer library: `import {CharacterPlayer} from "<host>/character-player.js"`.
// Runs the same Python player as the app. Works from any origin: what it needs is fetched from the
// host it came from, and what it stores belongs to the page that uses it.
import { assets } from "./host/assets.js";
import "./host/index.js";

/** @import { Answer, Call, CallNow, CodedError, Embed, EmbeddedPlayer } from "./types/python" */
/** @import { Emissions, Failure, Heard, Options, PackageSource, Reply } from "./types/python" */
/** @import { Said, Speaker } from "./types/python" */

// The build puts the names of `protocol.json` in the place of PERSONAE_EVENTS.
const EVENTS = PERSONAE_EVENTS;

/** @type {Promise<Embed> | null} */
let runtime = null;

/** The Python side, started once per page and shared by its players. */
function python() {
  runtime ??= startPython().catch((error) => {
    runtime = null;
    throw failure({ code: "boot_failed", message: `The player could not start: ${error.message}` });
  });
  return runtime;
}

/** @returns {Promise<Embed>} */
async function startPython() {
  const { loadPyodide } = await import(assets.pyodide + "interpreter.mjs");
  const pyodide = await loadPyodide({ indexURL: assets.pyodide });
  return pyodide.pyimport("personae.browser.embed");
}

/**
 * @param {Failure} facts
 * @returns {CodedError}
 */
function failure({ code, message, detail }) {
  return Object.assign(new Error(message), { code, detail: detail ?? {} });
}

/** @param {string} text an Answer of the Python side */
function unwrap(text) {
  const { value, error } = /** @type {Answer} */ (JSON.parse(text));
  if (error) throw failure(error);
  return value;
}

/**
 * Files and blobs become bytes; everything else is taken as it is.
 * @param {PackageSource} source
 */
async function readable(source) {
  if (source instanceof Blob) return new Uint8Array(await source.arrayBuffer());
  if (source instanceof ArrayBuffer) return new Uint8Array(source);
  if (typeof source === "string" && source) return new URL(source, document.baseURI).href;
  if (ArrayBuffer.isView(source) || /** @type {any} */ (source)?.files) return source;
  throw failure({
    code: "package_source_invalid",
    message:
      "package must be a URL, a File, Blob or ArrayBuffer, or {files: {path: text or bytes}}.",
  });
}

export class CharacterPlayer {
  /** @type {EmbeddedPlayer | null} */
  #python = null;
  /** @type {Map<keyof Emissions, Set<(value: any, who?: any) => void>>} */
  #listeners = new Map(EVENTS.map((event) => [event, new Set()]));
  #disposed = false;

  /**
   * @param {Options} options Without a key and base URL the rehearsal model answers (no AI).
   */
  constructor({ package: source, ...settings }) {
    /** Resolves when the character can be talked to; rejects with an Error that has a `code`. */
    this.ready = this.#start(source, settings);
    // Whoever awaits `ready` still sees the rejection; others hear it as an event.
    this.ready.catch((error) => this.#emit("error", error));
  }

  /**
   * @param {PackageSource} source
   * @param {Omit<Options, "package">} settings
   */
  async #start(source, settings) {
    const [embed, readableSource] = await Promise.all([python(), readable(source)]);
    if (this.#disposed) throw disposed();
    /** @type {import("./types/python").Hear} */
    const hear = (event, payload, who) => this.#hear(event, payload, who);
    this.#python = embed.EmbeddedPlayer(readableSource, JSON.stringify(settings), hear);
    unwrap(await this.#python.start());
  }

  /**
   * @param {keyof Emissions} event
   * @param {string} payload
   * @param {string} who
   */
  #hear(event, payload, who) {
    const value = JSON.parse(payload);
    this.#emit(event, event === "error" ? failure(value) : value, JSON.parse(who) ?? undefined);
  }

  /**
   * @template {keyof Heard} Event
   * @param {Event} event
   * @param {Heard[Event]} value
   * @param {Speaker} [who]
   */
  #emit(event, value, who) {
    for (const listener of [...(this.#listeners.get(event) ?? [])]) {
      try {
        if (who) listener(value, who);
        else listener(value);
      } catch (error) {
        // A listener's fault is the page's own; the player goes on.
        reportError(error);
      }
    }
  }

  /**
   * @param {Call} method
   * @param {unknown[]} values
   */
  async #call(method, ...values) {
    await this.ready;
    return unwrap(await this.#alive().call(method, JSON.stringify(values)));
  }

  /**
   * @param {CallNow} method
   * @param {unknown[]} values
   */
  #now(method, ...values) {
    return unwrap(this.#alive().call_now(method, JSON.stringify(values)));
  }

  #alive() {
    if (this.#disposed) throw disposed();
    if (!this.#python)
      throw failure({
        code: "not_ready",
        message: "The player is still loading: await player.ready.",
      });
    return this.#python;
  }

  /**
   * Subscribes to message, token, agentLog, agentToast, toolCall or error; returns unsubscribe.
   * @template {keyof Heard} Event
   * @param {Event} event
   * @param {(value: Heard[Event], who: Said[Event]) => void} listener `who`: see `Speaker`
   */
  on(event, listener) {
    const listeners = this.#listeners.get(event);
    if (!listeners)
      throw failure({
        code: "unknown_event",
        message: `No event “${event}”: ${EVENTS.join(", ")}.`,
      });
    listeners.add(listener);
    return () => listeners.delete(listener);
  }

  /**
   * Sends a message. An aborted signal stops the answer.
   * @param {string} text
   * @param {{ signal?: AbortSignal }} [options]
   * @returns {Promise<Reply>}
   */
  async send(text, { signal } = {}) {
    if (signal?.aborted) throw failure({ code: "aborted", message: "The message was not sent." });
    const stop = () => this.#python && !this.#disposed && this.stop();
    signal?.addEventListener("abort", stop);
    try {
      return await this.#call("send", text);
    } finally {
      signal?.removeEventListener("abort", stop);
    }
  }

  stop() {
    this.#now("stop");
  }

  /** Copies of the user and assistant entries: id, index, role, content. */
  getConversation() {
    return this.#now("get_conversation");
  }

  listCommands() {
    return this.#now("list_commands");
  }

  agents() {
    return this.#now("agents");
  }

  newConversation() {
    return this.#call("new_conversation");
  }

  /** @param {string} id */
  loadConversation(id) {
    return this.#call("load_conversation", id);
  }

  listConversations() {
    return this.#call("list_conversations");
  }

  /** @param {string} id */
  deleteConversation(id) {
    return this.#call("delete_conversation", id);
  }

  /** @param {string} entryId */
  fork(entryId) {
    return this.#call("fork", entryId);
  }

  regenerate() {
    return this.#call("regenerate");
  }

  /**
   * @param {string} entryId
   * @param {string} text
   */
  edit(entryId, text) {
    return this.#call("edit", entryId, text);
  }

  /** @param {string} entryId */
  delete(entryId) {
    return this.#call("delete", entryId);
  }

  /** @param {string} entryId */
  truncate(entryId) {
    return this.#call("truncate", entryId);
  }

  /** @param {string} entryId */
  reject(entryId) {
    return this.#call("reject", entryId);
  }

  clear() {
    return this.#call("clear");
  }

  /**
   * Runs a command (its `@` is optional); resolves to null or the validation error.
   * @param {string} name
   * @returns {Promise<string | null>}
   */
  runCommand(name, args = "") {
    return this.#call("run_command", name, args);
  }

  /** @param {string} id */
  agentStore(id) {
    return this.#call("agent_store", id);
  }

  promptPreview() {
    return this.#call("prompt_preview");
  }

  /** @param {string} [id] */
  exportConversation(id) {
    return this.#call("export_conversation", id ?? null);
  }

  /** @param {unknown} data what exportConversation gave */
  importConversation(data) {
    return this.#call("import_conversation", data);
  }

  /** Ends workers and listeners; what was said stays stored. */
  async dispose() {
    if (this.#disposed) return;
    this.#disposed = true;
    await this.ready.catch(() => {});
    const player = this.#python;
    this.#python = null;
    if (player) {
      await player.dispose();
      player.destroy();
    }
    for (const listeners of this.#listeners.values()) listeners.clear();
  }
}

function disposed() {
  return failure({ code: "disposed", message: "This player was disposed: make a new one." });
}
