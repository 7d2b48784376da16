/**
 * @agent skarn.tide-js
 * @description Counts sails that pass the light.
 * @tool count_sails
 * @tool-description Add sails that passed, and get the total.
 * @tool-params {"type":"object","properties":{"sails":{"type":"integer"}},"required":["sails"]}
 * @command @sails setSails
 * @preload true
 */
export function onLoad(store) {
  return store.total ? `Sails so far: ${store.total}` : null;
}

export function onToolCall(toolName, args, store) {
  store.total = (store.total ?? 0) + args.sails;
  return `Sails so far: ${store.total}`;
}

export function setSails(args, store) {
  const total = Number.parseInt(args, 10);
  if (Number.isNaN(total)) return "Write a number.";
  store.total = total;
}
