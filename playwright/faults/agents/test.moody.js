/**
 * @agent test.moody
 * @description Does as it is told, and waits for the model where a test holds it.
 * @tool act
 * @tool-description Acts.
 * @tool-params {"type": "object", "properties": {"how": {"type": "string"}}}
 * @command @act actCommand
 * @preload true
 * @api studio.model
 * @hook beforeResponse
 * @hook afterResponse
 * @hook afterUserEdit
 */

function forever() {
  for (;;);
}

async function perhaps(text, place, studio) {
  if (text.includes(`hold ${place}`)) await studio.callModel("hold", [{ role: "user", content: place }], 10);
  if (text.includes(`loop ${place}`)) forever();
  if (text.includes(`throw ${place}`)) throw new Error(`thrown ${place}`);
}

export function onLoad(store) {
  if (store.how === "loop load") {
    store.how = "";
    forever();
  }
  return store.ids ? `Acts so far: ${store.ids.join(", ")}` : null;
}

export async function onToolCall(name, args, store, studio, context) {
  store.ids = [...(store.ids ?? []), context.toolCallId];
  store.how = args.how;
  studio.log(`act ${context.toolCallId}`);
  await perhaps(args.how ?? "", "call", studio);
  return `did ${context.toolCallId}`;
}

export async function actCommand(args, store, studio) {
  await perhaps(String(args), "command", studio);
  return null;
}

export async function onBeforeResponse(event, store, studio) {
  await perhaps(event.userText, "before", studio);
}

export async function onAfterResponse(event, store, studio) {
  await perhaps(event.userText, "after", studio);
}

export async function onAfterUserEdit(event, store, studio) {
  await perhaps(store.how ?? "", "edit", studio);
  store.deleted = [...(store.deleted ?? []), event.deletedToolCallIds];
}
