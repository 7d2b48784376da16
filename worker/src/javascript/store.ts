/**
 * The agent's store inside QuickJS, and whether a call changed it, at a cost that depends on what
 * the call did and not on how large the store is.
 *
 * Invariants: the objects parsed from the page's text are ours alone; the agent gets a proxy of
 * each, the same one every time, so that no change goes unseen. What the agent puts in is its own
 * until the call ends, and returned as it is; then a copy takes its place, as if the store had
 * come anew. Text is parsed when the first trap of the root springs.
 */
import { toJson } from "./values";

type Fields = Record<PropertyKey, unknown>;

const { parse } = JSON;
const { hasOwn } = Object;

export class Store {
  private text: string | null = "{}";
  private fields: Fields = {};
  private root: object = {};
  private readonly proxies = new WeakMap<object, object>();
  private readonly targets = new WeakMap<object, Fields>();
  private readonly traps = this.makeTraps();
  private readonly rootTraps = this.makeRootTraps();
  private changed = false;
  /** Something was frozen or got another prototype: these objects are no longer plain data. */
  private special = false;
  private foreign = new WeakSet<object>();
  private inserted: [owner: Fields, key: PropertyKey][] = [];

  /** Takes over a store from the host. */
  load(text: string): void {
    this.text = text;
    this.fields = {};
    this.root = this.proxyOf(this.fields, this.rootTraps);
    this.forget();
  }

  /** What the agent gets. */
  get object(): object {
    return this.root;
  }

  /** The object behind a proxy of ours, for reading at full speed; any other value as it is. */
  behind(value: unknown): unknown {
    if (value === this.root) this.open();
    return isObject(value) ? (this.targets.get(value) ?? value) : value;
  }

  /** The store's JSON text if a call may have changed it; undefined if none did. */
  save(): string | undefined {
    if (!this.changed) return undefined;
    this.open();
    const text = toJson(this.fields, "store")!;
    if (this.special || !this.adopt()) this.load(text);
    else this.forget();
    return text;
  }

  private forget(): void {
    this.changed = this.special = false;
    this.foreign = new WeakSet();
    this.inserted = [];
  }

  private open(): void {
    if (this.text === null) return;
    const fields = parse(this.text) as Fields;
    this.text = null;
    for (const key of Object.keys(fields)) put(this.fields, key, fields[key]);
  }

  /** Puts copies in the places of what the agent put in; false for what JSON leaves out. */
  private adopt(): boolean {
    for (const [owner, key] of this.inserted) {
      const value = hasOwn(owner, key) ? owner[key] : null;
      if (!isObject(value) || !this.foreign.has(value)) continue;
      const text = toJson(value, "store");
      if (text === undefined) return false;
      put(owner, key, parse(text));
    }
    return true;
  }

  private proxyOf(target: Fields, traps: ProxyHandler<Fields>): object {
    const proxy = new Proxy(target, traps);
    this.proxies.set(target, proxy);
    this.targets.set(proxy, target);
    return proxy;
  }

  /** What the agent gets for a value that an object of ours holds. */
  private shown(owner: Fields, key: PropertyKey, value: object): object {
    const known = this.proxies.get(value);
    if (known !== undefined) return known;
    return this.foreign.has(value) || !this.isOurs(owner, key)
      ? value
      : this.proxyOf(value as Fields, this.traps);
  }

  /** Whether the property holds data of the store's, and may be shown as a proxy. */
  private isOurs(target: Fields, key: PropertyKey): boolean {
    if (!this.special) return hasOwn(target, key);
    return Reflect.getOwnPropertyDescriptor(target, key)?.configurable === true;
  }

  /** What is kept for a value of the agent's. */
  private taken(owner: Fields, key: PropertyKey, value: unknown): unknown {
    if (!isObject(value)) return value;
    const own = this.targets.get(value);
    if (own !== undefined) return own;
    this.foreign.add(value);
    this.inserted.push([owner, key]);
    return value;
  }

  private change(): void {
    this.changed = true;
  }

  private specialize(): void {
    this.changed = this.special = true;
  }

  private makeTraps(): ProxyHandler<Fields> {
    return {
      get: (target, key) => {
        const value = target[key];
        return typeof value === "object" && value !== null ? this.shown(target, key, value) : value;
      },
      getOwnPropertyDescriptor: (target, key) => {
        const found = Reflect.getOwnPropertyDescriptor(target, key);
        if (found?.configurable && isObject(found.value))
          found.value = this.shown(target, key, found.value);
        return found;
      },
      set: (target, key, value, receiver) => {
        this.change();
        if (receiver !== this.proxies.get(target)) return Reflect.set(target, key, value, receiver);
        return Reflect.set(target, key, this.taken(target, key, value));
      },
      defineProperty: (target, key, descriptor) => {
        if (descriptor.configurable && "value" in descriptor) this.change();
        else this.specialize();
        if (!("value" in descriptor)) return Reflect.defineProperty(target, key, descriptor);
        return Reflect.defineProperty(target, key, {
          ...descriptor,
          value: this.taken(target, key, descriptor.value),
        });
      },
      deleteProperty: (target, key) => (this.change(), Reflect.deleteProperty(target, key)),
      setPrototypeOf: (target, prototype) => (
        this.specialize(),
        Reflect.setPrototypeOf(target, prototype)
      ),
      preventExtensions: (target) => (this.specialize(), Reflect.preventExtensions(target)),
    };
  }

  /** The same for the root, whose text is parsed first. */
  private makeRootTraps(): ProxyHandler<Fields> {
    const opening: Record<string, unknown> = {};
    const names = ["has", "ownKeys", ...Object.keys(this.traps)] as (keyof ProxyHandler<Fields>)[];
    for (const name of names) {
      const trap = (this.traps[name] ?? Reflect[name]) as (...values: unknown[]) => unknown;
      opening[name] = (...values: unknown[]) => (this.open(), trap(...values));
    }
    return opening;
  }
}

function isObject(value: unknown): value is object {
  return typeof value === "object" && value !== null;
}

/** Sets a field whatever its name, `__proto__` too. */
function put(target: Fields, key: PropertyKey, value: unknown): void {
  Object.defineProperty(target, key, {
    value,
    writable: true,
    enumerable: true,
    configurable: true,
  });
}
