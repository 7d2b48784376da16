/**
 * The TypeScript worker: JavaScript's, with the types taken out of the agent first.
 *
 * Only project folders hold `.ts`; an exported package has JavaScript. Types are stripped, not
 * checked, and lines stay where they are, so that errors name the author's own lines.
 */
import { transform } from "sucrase";

import { bootQuickJs } from "../javascript/machine";
import { AgentFailure, type Load } from "../protocol";
import { serve } from "../serve";
import type { Machine } from "../session";

serve(async (files, emit) => {
  const machine: Machine = await bootQuickJs(files, emit);
  return {
    load: (program) => machine.load({ ...program, source: strip(program) }),
    call: (call, store) => machine.call(call, store),
    settle: (text) => machine.settle(text),
    wake: () => machine.wake(),
  };
});

function strip({ source, filename }: Load): string {
  try {
    return transform(source, { transforms: ["typescript"], disableESTransforms: true }).code;
  } catch (error) {
    throw new AgentFailure("load", `${filename}: ${(error as Error).message}`);
  }
}
