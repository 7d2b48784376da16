/**
 * The TypeScript worker: JavaScript's, with the types taken out of the agent first.
 *
 * Only project folders hold `.ts`; an exported package has JavaScript.
 */
import { bootQuickJs } from "../javascript/machine";
import { AgentFailure, type Load } from "../protocol";
import { serve } from "../serve";
import type { Machine } from "../session";
import { strip } from "./strip";

serve(async (files, extras, emit) => {
  const machine: Machine = await bootQuickJs(files, extras, emit);
  return {
    load: (program) => machine.load({ ...program, source: stripped(program) }),
    call: (call, values, store) => machine.call(call, values, store),
    settle: (text) => machine.settle(text),
    wake: () => machine.wake(),
  };
});

function stripped({ source, filename }: Load): string {
  try {
    return strip(source);
  } catch (error) {
    const { message, loc } = error as Error & { loc?: { line: number } };
    throw new AgentFailure("load", {
      message,
      name: "SyntaxError",
      file: filename,
      line: loc?.line ?? null,
    });
  }
}
