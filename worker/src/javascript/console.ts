/** `console` inside QuickJS: every line goes to the agent log. */
import { toJson } from "./values";

type Notice = (kind: string, text: string) => void;

export function consoleFor(notice: Notice): object {
  const line = (...values: unknown[]) => notice("console", values.map(show).join(" "));
  return { log: line, info: line, debug: line, warn: line, error: line, trace: line };
}

function show(value: unknown): string {
  if (typeof value === "string") return value;
  if (value instanceof Error) return `${value.name}: ${value.message}`;
  try {
    return typeof value === "object" ? (toJson(value, "value") ?? String(value)) : String(value);
  } catch {
    return Object.prototype.toString.call(value);
  }
}
