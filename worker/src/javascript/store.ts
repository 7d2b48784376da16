/**
 * The agent's store inside QuickJS: an object for the agent, JSON text for the host.
 */
import { toJson } from "./values";

const { parse } = JSON;

export class Store {
  value: unknown = {};
  private text = "{}";

  load(text: string): void {
    this.value = parse(text);
    this.text = text;
  }

  /** The store's JSON text if it differs from what the host has; undefined if it does not. */
  save(): string | undefined {
    const text = toJson(this.value, "the store")!;
    if (text === this.text) return undefined;
    this.text = text;
    return text;
  }
}
