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

serve(async (files, emit) => {
  const machine: Machine = await bootQuickJs(files, emit);
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
    throw new AgentFailure("load", `${filename}: ${(error as Error).message}`);
  }
}
