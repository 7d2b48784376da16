/**
 * The agent's store inside QuickJS, and whether a call changed it, at a cost that depends on what
 * the call looked at and not on how large the store is.
 *
 * The agent gets a proxy of the top level only; everything below is plain. The proxy notes which
 * fields were handed out and which were written. What was handed out may change through
 * references for as long as this object lives, so it is compared after every call from then on;
 * what never left cannot have changed. Text is parsed when the first trap springs.
 */
import { toJson, ValueError } from "./values";

type Fields = Record<string, unknown>;

/** Remembers binary copies of values, outside QuickJS's heap. */
export interface Copies {
  keep(key: string, value: unknown): void;
  /** 1: as kept, 0: not, -1: too deep to tell. */
  compare(key: string, value: unknown): number;
  clear(): void;
}

const { parse } = JSON;

export class Store {
  private value: object = {};
  private text: string | null = "{}";
  private fields: Fields = {};
  private readonly seen = new Map<string, unknown>();
  private written = false;

  constructor(private readonly copies: Copies) {}

  /** Takes over a store from the host. */
  load(text: string): void {
    this.text = text;
    this.seen.clear();
    this.copies.clear();
    this.written = false;
    this.fields = {};
    this.value = new Proxy(this.fields, this.traps());
  }

  /** What the agent gets. */
  get object(): object {
    return this.value;
  }

  /** The store's JSON text if a call may have changed it; undefined if none did. */
  save(): string | undefined {
    if (!this.written && [...this.seen].every(([key, value]) => this.isAsSeen(key, value))) return undefined;
    const text = toJson(this.fields, "store")!;
    this.written = false;
    for (const key of this.seen.keys()) this.keep(key);
    return text;
  }

  private isAsSeen(key: string, value: unknown): boolean {
    if (typeof value !== "object" || value === null) return true; // only a write changes a primitive
    const result = this.copies.compare(key, value);
    if (result < 0) throw new ValueError("store is nested deeper than 1000");
    return result === 1;
  }

  private keep(key: string): void {
    const value = this.fields[key];
    this.seen.set(key, value);
    if (typeof value === "object" && value !== null) this.copies.keep(key, value);
  }

  private open(): void {
    if (this.text === null) return;
    const fields = parse(this.text) as Fields;
    this.text = null;
    for (const key of Object.keys(fields)) {
      Object.defineProperty(this.fields, key, { value: fields[key], writable: true, enumerable: true, configurable: true });
    }
  }

  private look(key: string | symbol): void {
    this.open();
    if (typeof key === "string" && !this.seen.has(key) && Object.hasOwn(this.fields, key)) this.keep(key);
  }

  private write(): void {
    this.open();
    this.written = true;
  }

  private traps(): ProxyHandler<Fields> {
    return {
      get: (target, key, receiver) => (this.look(key), Reflect.get(target, key, receiver)),
      getOwnPropertyDescriptor: (target, key) => (this.look(key), Reflect.getOwnPropertyDescriptor(target, key)),
      has: (target, key) => (this.open(), Reflect.has(target, key)),
      ownKeys: (target) => (this.open(), Reflect.ownKeys(target)),
      set: (target, key, value) => (this.write(), Reflect.set(target, key, value)),
      defineProperty: (target, key, descriptor) => (this.write(), Reflect.defineProperty(target, key, descriptor)),
      deleteProperty: (target, key) => (this.write(), Reflect.deleteProperty(target, key)),
      setPrototypeOf: (target, prototype) => (this.write(), Reflect.setPrototypeOf(target, prototype)),
      preventExtensions: (target) => (this.write(), Reflect.preventExtensions(target)),
    };
  }
}
