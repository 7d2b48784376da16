/**
 * What an agent's value becomes as JSON text: one rule for each kind, see docs/agents.md.
 *
 * Runs inside QuickJS. A first walk refuses what has no JSON form and notices what the built-in
 * JSON.stringify would spell differently from the rule; only then the slower writer here is used.
 */
const { stringify } = JSON;
const { isArray } = Array;
const { keys } = Object;
const { isFinite } = Number;

const MAX_DEPTH = 1000;

/** Kinds that JSON.stringify would turn into `{}` or worse, losing what they hold. */
const REFUSED = [Map, Set, WeakMap, WeakSet, Promise, RegExp, ArrayBuffer, DataView, Object.getPrototypeOf(Int8Array)];

export class ValueError extends Error {}

/** JSON text of `value`; undefined where JSON has none. Throws ValueError naming the place. */
export function toJson(value: unknown, name: string): string | undefined {
  const plain = walk(value, name, []);
  return plain ? stringify(value) : write(value);
}

/** True when JSON.stringify spells `value` as the rules want. */
function walk(value: unknown, path: string, above: object[]): boolean {
  if (typeof value === "string") return value.isWellFormed();
  if (typeof value === "bigint") return false;
  if (typeof value !== "object" || value === null) return true;
  refuse(value, path, above);
  if (typeof (value as { toJSON?: unknown }).toJSON === "function") return false;
  above.push(value);
  let plain = true;
  if (isArray(value)) {
    for (let i = 0; i < value.length; i++) plain = walk(value[i], `${path}[${i}]`, above) && plain;
  } else {
    for (const key of keys(value)) {
      plain = key.isWellFormed() && plain;
      plain = walk((value as Record<string, unknown>)[key], `${path}.${key}`, above) && plain;
    }
  }
  above.pop();
  return plain;
}

function refuse(value: object, path: string, above: object[]): void {
  if (above.includes(value)) throw new ValueError(`${shorten(path)} contains itself`);
  if (above.length >= MAX_DEPTH) throw new ValueError(`${shorten(path)} is nested deeper than ${MAX_DEPTH}`);
  const kind = REFUSED.find((constructor) => value instanceof constructor);
  if (kind) throw new ValueError(`${shorten(path)} is a ${value.constructor?.name ?? kind.name}; use a plain object or array`);
}

function write(value: unknown): string | undefined {
  const json = unwrap(value);
  if (typeof json === "string") return stringify(json.toWellFormed());
  if (typeof json === "bigint") return json.toString();
  if (typeof json === "number") return isFinite(json) ? stringify(json) : "null";
  if (typeof json !== "object" || json === null) return stringify(json);
  if (isArray(json)) return `[${json.map((item) => write(item) ?? "null").join(",")}]`;
  const members: string[] = [];
  for (const key of keys(json)) {
    const text = write((json as Record<string, unknown>)[key]);
    if (text !== undefined) members.push(`${stringify(key.toWellFormed())}:${text}`);
  }
  return `{${members.join(",")}}`;
}

function unwrap(value: unknown): unknown {
  const convert = (value as { toJSON?: (key: string) => unknown } | null | undefined)?.toJSON;
  const json = typeof value === "object" && typeof convert === "function" ? convert.call(value, "") : value;
  return json instanceof Number || json instanceof String || json instanceof Boolean ? json.valueOf() : json;
}

function shorten(path: string): string {
  return path.length <= 120 ? path : `${path.slice(0, 60)}…${path.slice(-40)}`;
}
