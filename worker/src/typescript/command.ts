/** Strips one file under Node, for `personae pack`: source on stdin, `{code}` or `{error}` on stdout. */
import { strip } from "./strip";

declare const process: {
  stdin: AsyncIterable<Uint8Array>;
  stdout: { write(text: string): void };
};

async function main(): Promise<void> {
  const decoder = new TextDecoder();
  let source = "";
  for await (const chunk of process.stdin) source += decoder.decode(chunk, { stream: true });
  process.stdout.write(JSON.stringify(attempt(source)));
}

function attempt(source: string): { code: string } | { error: string } {
  try {
    return { code: strip(source) };
  } catch (error) {
    return { error: (error as Error).message };
  }
}

void main();
