/**
 * @agent skarn.tide-ts
 * @description Counts ferries that pass the light.
 * @tool count_ferries
 * @tool-description Add ferries that passed, and get the total.
 * @tool-params {"type":"object","properties":{"ferries":{"type":"integer"}},"required":["ferries"]}
 * @command @ferries setFerries
 * @preload true
 */
type Store = { total?: number };

export function onLoad(store: Store): string | null {
  return store.total ? `Ferries so far: ${store.total}` : null;
}

export function onToolCall(toolName: string, args: { ferries: number }, store: Store): string {
  store.total = (store.total ?? 0) + args.ferries;
  return `Ferries so far: ${store.total}`;
}

export function setFerries(args: string, store: Store): string | undefined {
  const total = Number.parseInt(args, 10);
  if (Number.isNaN(total)) return "Write a number.";
  store.total = total;
}
