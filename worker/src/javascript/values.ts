/**
 * What an agent's value becomes as JSON text: one rule for each kind, see docs/agents.md.
 *
 * Runs inside QuickJS. A walk over the objects refuses what has no JSON form, then JSON.stringify
 * does the work; what it would spell differently from the rules is put right in its text. The
 * walk does not recurse: a value may be deeper than the stack.
 */
const { stringify } = JSON;
const { getPrototypeOf, keys, values } = Object;

const MAX_DEPTH = 1000;
const PLAIN = [Object.prototype, Array.prototype, null];

/** Kinds that JSON.stringify would turn into `{}`, losing what they hold. */
const REFUSED = [
  Map,
  Set,
  WeakMap,
  WeakSet,
  Promise,
  RegExp,
  ArrayBuffer,
  DataView,
  getPrototypeOf(Int8Array),
];

/** Stands for a BigInt until the text is complete; no agent can guess it. */
const BIGINT = `bigint ${Math.random()} ${Math.random()} `;
const BIGINTS = new RegExp(`"${BIGINT.replaceAll(".", "\\.")}(-?\\d+)"`, "g");
const ESCAPES = /\\(?:u(d[89a-f][0-9a-f]{2})|.)/g;

export class ValueError extends Error {
  override name = "ValueError";
}

/** JSON text of `value`; undefined where JSON has none. Throws ValueError naming the place. */
export function toJson(value: unknown, name: string): string | undefined {
  const hasBigInt =
    typeof value === "object" && value !== null ? check(value, name) : typeof value === "bigint";
  const text = hasBigInt ? stringify(value, markBigInt)?.replace(BIGINTS, "$1") : stringify(value);
  return text?.includes("\\ud") ? text.replace(ESCAPES, wellFormed) : text;
}

function markBigInt(_key: string, value: unknown): unknown {
  return typeof value === "bigint" ? BIGINT + value : value;
}

/** JSON.stringify writes lone surrogates, and only them, as escapes. */
function wellFormed(escape: string, surrogate: string | undefined): string {
  return surrogate === undefined ? escape : "\ufffd";
}

interface Place {
  object: object;
  values: unknown[];
  next: number;
}

/** Refuses what has no JSON form; true when there is a BigInt somewhere. */
function check(root: object, name: string): boolean {
  let hasBigInt = false;
  const path = [enter(root, name, [])];
  while (path.length > 0) {
    const place = path[path.length - 1]!;
    if (place.next === place.values.length) {
      path.pop();
      continue;
    }
    const value = place.values[place.next++];
    if (typeof value === "object" && value !== null) path.push(enter(value, name, path));
    else if (typeof value === "bigint") hasBigInt = true;
  }
  return hasBigInt;
}

function enter(object: object, name: string, path: Place[]): Place {
  if (path.length >= MAX_DEPTH) throw new ValueError(tooDeep(object, name, path));
  const prototype = getPrototypeOf(object);
  if (PLAIN.includes(prototype))
    return { object, values: Array.isArray(object) ? object : values(object), next: 0 };
  const kind = REFUSED.find((constructor) => object instanceof constructor);
  if (kind)
    throw new ValueError(
      `${where(name, path)} is a ${prototype.constructor.name}; use a plain object or array`,
    );
  // Of a class: its own fields, unless it says itself what it is in JSON.
  return { object, values: "toJSON" in object ? [] : values(object), next: 0 };
}

function tooDeep(object: object, name: string, path: Place[]): string {
  const first = path.findIndex(
    (place, at) => path.findIndex((other) => other.object === place.object) < at,
  );
  if (first >= 0) return `${where(name, path.slice(0, first))} contains itself`;
  if (path.some((place) => place.object === object)) return `${where(name, path)} contains itself`;
  return `${name} is nested deeper than ${MAX_DEPTH}`;
}

/** E.g. `the store.items[3].owner`, shortened in the middle. */
function where(name: string, path: Place[]): string {
  const steps = path.map(({ object, next }) =>
    Array.isArray(object) ? `[${next - 1}]` : `.${keys(object)[next - 1]}`,
  );
  const text = name + steps.join("");
  return text.length <= 120 ? text : `${text.slice(0, 60)}…${text.slice(-40)}`;
}
