/**
 * Strips files under Node, for `personae pack`: `{name: source}` as JSON on stdin gives
 * `{name: {code} or {error}}` on stdout.
 */
import { strip } from "./strip";

declare const process: {
  stdin: AsyncIterable<Uint8Array>;
  stdout: { write(text: string): void };
};

async function main(): Promise<void> {
  const decoder = new TextDecoder();
  let text = "";
  for await (const chunk of process.stdin) text += decoder.decode(chunk, { stream: true });
  const results = Object.entries(JSON.parse(text) as Record<string, string>).map(([name, source]) => {
    try {
      return [name, { code: strip(source) }];
    } catch (error) {
      return [name, { error: (error as Error).message }];
    }
  });
  process.stdout.write(JSON.stringify(Object.fromEntries(results)));
}

void main();
