/**
 * What is told of a value that an agent threw. Runs inside QuickJS and does not trust the value: any
 * part of it may throw in turn.
 */
type Described = {
  kind: string;
  message: string;
  name: string | null;
  file: string | null;
  line: number | null;
  stack: string | null;
};

const { stringify } = JSON;
const MOST_CAUSES = 5;
/** Frames of ours are no help to an author. */
const OURS = /^ *at .*(?:\(|at )(?:prelude|extra):\d/;

export class ThrownReader {
  private files: string[] = [];

  /** The agent's files: a place is the innermost frame in one of them. */
  know(files: string[]): void {
    this.files = files;
  }

  describe(error: unknown): Described {
    try {
      return this.read(error);
    } catch {
      const message = "a value that cannot be shown";
      return { kind: "threw", message, name: null, file: this.file, line: null, stack: null };
    }
  }

  private get file(): string | null {
    return this.files[0] ?? null;
  }

  private read(error: unknown): Described {
    const name = nameOf(error);
    const message = messageOf(error).toWellFormed();
    const stack = stackOf(error);
    const place = this.place(stack, constructorsOf(error)) ?? { file: this.file, line: null };
    const text = stack && `${headline(name, message)}\n${stack}${causesOf(error)}`;
    return { kind: kindOf(name, message), message, name, ...place, stack: text };
  }

  /** `constructors`: an error of the agent's own class begins its stack with them. */
  private place(
    stack: string | null,
    constructors: string[],
  ): { file: string; line: number } | null {
    for (const frame of stack?.split("\n") ?? []) {
      if (constructors.some((name) => frame.startsWith(`    at ${name} (`))) continue;
      for (const file of this.files) {
        const at = frame.lastIndexOf(`${file}:`);
        const line = at < 0 ? NaN : parseInt(frame.slice(at + file.length + 1), 10);
        if (line > 0) return { file, line };
      }
    }
    return null;
  }
}

function kindOf(name: string, message: string): string {
  if (name === "InternalError" && message === "out of memory") return "memory";
  return name === "ValueError" ? "value" : "threw";
}

/** The class of an error, what `typeof` says of any other value. */
function nameOf(error: unknown): string {
  if (!(error instanceof Error)) return typeof error;
  const { name, constructor } = error;
  return String(name === "Error" ? constructor.name || name : name);
}

/** Names of the classes of an error, from its own up. */
function constructorsOf(error: unknown): string[] {
  const names = [];
  let kind: unknown = error instanceof Error ? error.constructor : null;
  while (typeof kind === "function" && kind !== Error && names.length < MOST_CAUSES) {
    if (kind.name) names.push(String(kind.name));
    kind = Object.getPrototypeOf(kind);
  }
  return names;
}

function messageOf(error: unknown): string {
  if (error instanceof Error) return String(error.message || error.name);
  if (error === undefined || error === null) return "an error without a message";
  if (typeof error !== "object") return String(error);
  const own = String(error);
  return own.startsWith("[object ") ? (stringify(error) ?? own) : own;
}

function stackOf(error: unknown): string | null {
  const stack = error instanceof Error ? error.stack : null;
  if (typeof stack !== "string") return null;
  const frames = stack.split("\n").filter((frame) => frame.trim() !== "" && !OURS.test(frame));
  return frames.join("\n");
}

function headline(name: string, message: string): string {
  return message === name ? name : `${name}: ${message}`;
}

function causesOf(error: unknown): string {
  let text = "";
  let cause = (error as Error).cause;
  for (let count = 0; cause !== undefined && count < MOST_CAUSES; count++) {
    text += `\nCaused by ${headline(nameOf(cause), messageOf(cause))}\n${stackOf(cause) ?? ""}`;
    cause = cause instanceof Error ? cause.cause : undefined;
  }
  return text;
}
