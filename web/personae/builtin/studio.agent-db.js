/**
 * @agent studio.agent-db
 * @version 1.0.0
 * @description Queries a JSON file of the package (contextFile) like a small table.
 *
 * @tool query_data
 * @tool-description Find records in this character's data: by conditions, by words, sorted.
 * @tool-params {
 *   "type": "object",
 *   "properties": {
 *     "where": {
 *       "type": "array",
 *       "description": "Conditions that all hold",
 *       "items": {
 *         "type": "object",
 *         "properties": {
 *           "field": {"type": "string", "description": "Field name; a dot enters an inner object"},
 *           "op": {"enum": ["eq", "ne", "lt", "lte", "gt", "gte", "contains", "exists"]},
 *           "value": {"description": "What to compare with; none for exists"}
 *         },
 *         "required": ["field", "op"]
 *       }
 *     },
 *     "search": {"type": "string", "description": "Words that appear anywhere in a record"},
 *     "fields": {"type": "array", "items": {"type": "string"}, "description": "Fields to return; all if absent"},
 *     "sort": {"type": "string", "description": "Field to sort by"},
 *     "descending": {"type": "boolean"},
 *     "limit": {"type": "integer", "minimum": 1, "maximum": 50, "description": "Records at most; 10 if absent"}
 *   }
 * }
 *
 * @api studio.context
 */

const LONGEST = 20000;

export async function onToolCall(toolName, args, store, studio, context) {
  const file = context.config.contextFile;
  if (typeof file !== "string") return "This agent's entry in config.json names no contextFile.";
  const text = await studio.context.readFile(file);
  if (text === null || text === undefined)
    return `The file ${file} is not in the context directory.`;
  try {
    return answer(records(JSON.parse(text)), args);
  } catch (error) {
    return `${file} cannot be queried: ${error.message}`;
  }
}

function answer(all, args) {
  const found = all.filter(
    (record) =>
      (args.where ?? []).every((one) => holds(record, one)) && mentions(record, args.search),
  );
  if (args.sort) found.sort((a, b) => compare(read(a, args.sort), read(b, args.sort)));
  if (args.sort && args.descending) found.reverse();
  const shown = found.slice(0, args.limit ?? 10).map((record) => pick(record, args.fields));
  if (!found.length)
    return `No record of ${all.length} matches. Fields: ${fieldsOf(all).join(", ")}`;
  while (shown.length > 1 && JSON.stringify(shown).length > LONGEST) shown.pop();
  return `${found.length} matching, ${shown.length} shown:\n${JSON.stringify(shown)}`;
}

/**
 * The records in a file: a list, an object's only list, or an object whose members are records
 * (each gets its name as `key`). A record that is no object becomes `{value}`.
 */
function records(data) {
  if (Array.isArray(data)) return data.map(asRecord);
  if (data === null || typeof data !== "object") throw new Error("it holds no list of records");
  const lists = Object.values(data).filter(Array.isArray);
  if (lists.length === 1) return lists[0].map(asRecord);
  return Object.entries(data).map(([key, value]) => ({ key, ...asRecord(value) }));
}

function asRecord(value) {
  return value !== null && typeof value === "object" && !Array.isArray(value) ? value : { value };
}

function read(record, path) {
  if (Object.hasOwn(record, path)) return record[path];
  return path
    .split(".")
    .reduce(
      (value, key) =>
        value !== null && typeof value === "object" && Object.hasOwn(value, key)
          ? value[key]
          : undefined,
      record,
    );
}

function holds(record, { field, op, value }) {
  const actual = read(record, field);
  if (op === "exists") return actual !== undefined && actual !== null;
  if (op === "contains") return contains(actual, value);
  const order = compare(actual, value);
  if (op === "eq") return order === 0;
  if (op === "ne") return order !== 0;
  if (actual === undefined || actual === null) return false;
  return { lt: order < 0, lte: order <= 0, gt: order > 0, gte: order >= 0 }[op];
}

function contains(actual, value) {
  if (Array.isArray(actual)) return actual.some((one) => compare(one, value) === 0);
  return String(actual ?? "")
    .toLowerCase()
    .includes(String(value ?? "").toLowerCase());
}

/** Numbers by value (also when written as text), everything else as text; absent values last. */
function compare(a, b) {
  const missing = (value) => value === undefined || value === null;
  if (missing(a) || missing(b)) return Number(missing(a)) - Number(missing(b));
  const [x, y] = [number(a), number(b)];
  if (!Number.isNaN(x) && !Number.isNaN(y)) return x - y;
  const [left, right] = [words(a), words(b)];
  return left < right ? -1 : left > right ? 1 : 0;
}

function number(value) {
  return typeof value === "number" || (typeof value === "string" && value.trim())
    ? Number(value)
    : NaN;
}

function words(value) {
  return (typeof value === "object" ? JSON.stringify(value) : String(value)).toLowerCase();
}

function mentions(record, search) {
  const text = JSON.stringify(record).toLowerCase();
  return (search ?? "")
    .toLowerCase()
    .split(/\s+/)
    .filter(Boolean)
    .every((word) => text.includes(word));
}

function pick(record, fields) {
  if (!fields?.length) return record;
  return Object.fromEntries(fields.map((field) => [field, read(record, field)]));
}

function fieldsOf(all) {
  return [...new Set(all.slice(0, 100).flatMap(Object.keys))].slice(0, 40);
}
